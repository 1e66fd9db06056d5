"""Tests of patch_k3_sm120.py: what it does to the disk, and how it finds the file."""

import importlib.util
import os
import py_compile
import shutil
import signal
import subprocess
import sys
import textwrap
import unittest

from patch_k3_sm120_case import APPLIED, CACHED, IO_FAILED, NOT_FOUND, SCRIPT, Case

NOBODY = 65534


class OnDisk(Case):
    def test_Mode_and_owner_stay(self):
        for mode in (0o644, 0o600, 0o444, 0o755, 0o664):
            with self.subTest(oct(mode)):
                self.write(CACHED)
                os.chmod(self.file, mode)
                if os.geteuid() == 0:
                    os.chown(self.file, 1234, 4321)
                before = os.stat(self.file)
                self.assertEqual(self.patch().returncode, APPLIED)
                after = os.stat(self.file)
                self.assertEqual((after.st_mode, after.st_uid, after.st_gid),
                                 (before.st_mode, before.st_uid, before.st_gid))
                self.assertNotEqual(self.read(), CACHED)
                os.unlink(self.file)

    def patch_as_nobody(self, *args):
        """Runs the script without the right to write. As root, the child gives its rights up
        after the interpreter has loaded, which may lie where only root can read."""
        code = textwrap.dedent("""
            import contextlib, importlib.util, os, sys
            spec = importlib.util.spec_from_file_location("patch", sys.argv[1])
            patch = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(patch)
            with contextlib.redirect_stdout(None), contextlib.redirect_stderr(None):
                patch.main(["--check", *sys.argv[2:]])  # loads what is loaded late
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(%d)
                os.setuid(%d)
            sys.exit(patch.main(sys.argv[2:]))
            """ % (NOBODY, NOBODY))
        return subprocess.run([sys.executable, "-c", code, SCRIPT, "--file", self.file, *args],
                              capture_output=True, text=True, timeout=60, check=False)

    def test_Read_only_directory_fails_with_nothing_changed(self):
        self.write(CACHED)
        os.chmod(self.layers, 0o555)
        self.addCleanup(os.chmod, self.layers, 0o755)
        result = self.patch_as_nobody()
        self.assertEqual(result.returncode, IO_FAILED)
        self.assertIn("nothing changed: ", result.stderr)
        self.assertIn("Permission denied", result.stderr)
        self.assertEqual(self.read(), CACHED)
        self.assert_only_file()

    def test_Read_only_directory_is_no_obstacle_when_already_applied(self):
        self.write(CACHED.replace(b"= major >= 10", b"= 10 == major"))
        os.chmod(self.layers, 0o555)
        self.addCleanup(os.chmod, self.layers, 0o755)
        self.assertEqual(self.patch_as_nobody().returncode, APPLIED)

    def test_Unreadable_file_fails(self):
        self.write(CACHED)
        os.chmod(self.file, 0o000)
        self.assertEqual(self.patch_as_nobody().returncode, IO_FAILED)
        self.assertEqual(self.patch_as_nobody("--check").returncode, 2)

    def test_Foreign_owner_that_cannot_be_kept_fails(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to make a file of another owner")
        self.write(CACHED)
        os.chown(self.layers, NOBODY, NOBODY)
        result = self.patch_as_nobody()
        self.assertEqual(result.returncode, IO_FAILED)
        self.assertEqual((self.read(), os.stat(self.file).st_uid), (CACHED, 0))
        self.assert_only_file()

    def test_Symbolic_link_stays_a_link_and_its_target_is_edited(self):
        real = os.path.join(self.dir, "real.py")
        self.write(CACHED, real)
        os.symlink(real, self.file)
        self.assertEqual(self.patch().returncode, APPLIED)
        self.assertTrue(os.path.islink(self.file))
        self.assertNotEqual(self.read(real), CACHED)

    def test_Other_hard_link_keeps_the_old_text(self):
        other = os.path.join(self.dir, "wheel-cache.py")
        self.write(CACHED)
        os.link(self.file, other)
        self.assertEqual(self.patch().returncode, APPLIED)
        self.assertEqual(self.read(other), CACHED)
        self.assertNotEqual(self.read(), CACHED)

    def test_Two_at_once_both_succeed(self):
        for _ in range(5):
            self.write(CACHED)
            runs = [subprocess.Popen([sys.executable, SCRIPT, "--file", self.file], stdout=subprocess.PIPE, text=True)
                    for _ in range(4)]
            said = [run.communicate(timeout=60)[0] for run in runs]
            self.assertEqual([run.returncode for run in runs], [0] * 4)
            self.assertEqual(sorted(": applied: " in text for text in said), [False, False, False, True])
            self.assertEqual(self.read(), CACHED.replace(b"_CACHED = major >=", b"_CACHED = major =="))
            self.assert_only_file()


class Interrupted(Case):
    """The calls that touch the disk, each made to fail or to be the last thing the process does."""

    CALLS = ("open", "fstat", "fchmod", "fsync", "stat", "replace")

    def child(self, call, how):
        code = textwrap.dedent("""
            import importlib.util, os, signal, sys
            spec = importlib.util.spec_from_file_location("patch", sys.argv[1])
            patch = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(patch)
            call, how, path = sys.argv[2:5]
            real = getattr(os, call)
            def wrapped(*args, **kwargs):
                ours = call != "open" or str(args[0]).endswith(".tmp")
                if ours and how == "fail":
                    raise OSError(28, "No space left on device")
                if ours and how == "kill-before":
                    os.kill(os.getpid(), signal.SIGKILL)
                result = real(*args, **kwargs)
                if ours and how == "kill-after":
                    os.kill(os.getpid(), signal.SIGKILL)
                return result
            class Os:
                def __getattr__(self, name):
                    return wrapped if name == call else getattr(os, name)
            patch.os = Os()
            sys.exit(patch.main(["--file", path]))
            """)
        return subprocess.run([sys.executable, "-c", code, SCRIPT, call, how, self.file],
                              capture_output=True, text=True, timeout=60, check=False)

    def test_Failure_leaves_the_old_file_and_no_other(self):
        for call in self.CALLS:
            with self.subTest(call):
                self.write(CACHED)
                result = self.child(call, "fail")
                self.assertEqual((result.returncode, result.stdout), (IO_FAILED, ""))
                self.assertIn("nothing changed: ", result.stderr)
                self.assertIn("No space left", result.stderr)
                self.assertEqual(self.read(), CACHED)
                self.assert_only_file()

    def test_Killed_anywhere_leaves_the_old_or_the_new_file_and_the_next_run_converges(self):
        new = CACHED.replace(b"_CACHED = major >=", b"_CACHED = major ==")
        seen = set()
        for call in self.CALLS:
            for how in ("kill-before", "kill-after"):
                with self.subTest(call=call, how=how):
                    self.write(CACHED)
                    self.assertEqual(self.child(call, how).returncode, -signal.SIGKILL)
                    self.assertIn(self.read(), (CACHED, new))
                    seen.add(self.read())
                    self.assertEqual(self.patch().returncode, APPLIED)
                    self.assertEqual(self.read(), new)
                    self.assert_only_file()
        self.assertEqual(seen, {CACHED, new})


class Bytecode(Case):
    """What python runs after the patch is what counts, not what the file says."""

    MODES = py_compile.PycInvalidationMode

    def answer(self):
        """Imports the file as python would, cache included, and asks its `_use_fast`."""
        code = "import sys; sys.path.insert(0, sys.argv[1]); import attn_residual as a; print(a._use_fast(7168))"
        result = subprocess.run([sys.executable, "-c", code, self.layers], capture_output=True, text=True,
                                timeout=60, check=True)
        return result.stdout.strip()

    def compiled(self, mode):
        self.write(textwrap.dedent("""
            class torch:
                class cuda:
                    get_device_capability = staticmethod(lambda: (12, 0))
            def _use_fast(size):
                major, _ = torch.cuda.get_device_capability()
                return major >= 10 and size == 7168
            """).encode())
        return py_compile.compile(self.file, invalidation_mode=mode, doraise=True)

    def test_Cached_bytecode_of_any_kind_does_not_survive_the_patch(self):
        for mode in (self.MODES.TIMESTAMP, self.MODES.CHECKED_HASH, self.MODES.UNCHECKED_HASH):
            with self.subTest(mode.name):
                self.compiled(mode)
                self.assertEqual(self.answer(), "True")
                self.assertEqual(self.patch().returncode, APPLIED)
                self.assertEqual(self.answer(), "False")

    def test_Same_size_and_same_second_do_not_fool_python(self):
        self.compiled(self.MODES.TIMESTAMP)
        future = os.stat(self.file).st_mtime + 2  # the second in which the patch may well be done
        for offset in range(4):
            with self.subTest(offset=offset):
                self.compiled(self.MODES.TIMESTAMP)
                os.utime(self.file, (future, int(future) - offset))
                os.unlink(importlib.util.cache_from_source(self.file))
                py_compile.compile(self.file, doraise=True)
                old = os.stat(self.file)
                self.assertEqual(self.patch().returncode, APPLIED)
                self.assertNotEqual(int(os.stat(self.file).st_mtime), int(old.st_mtime))
                self.assertEqual(os.stat(self.file).st_size, old.st_size)
                self.assertEqual(self.answer(), "False")

    def test_Bytecode_left_by_a_run_killed_after_the_rename_is_noticed_and_dropped(self):
        pyc = self.compiled(self.MODES.UNCHECKED_HASH)
        self.write(self.read().replace(b"major >= 10", b"major == 10"))
        self.assertEqual(self.answer(), "True", "python trusts this bytecode blindly")
        self.assertEqual(self.patch("--check").returncode, 1)
        result = self.patch()
        self.assertEqual(result.returncode, APPLIED)
        self.assertIn("already applied", result.stdout)
        self.assertFalse(os.path.exists(pyc))
        self.assertEqual(self.answer(), "False")
        self.assertEqual(self.patch("--check").returncode, 0)

    def test_Fresh_bytecode_stays(self):
        self.compiled(self.MODES.TIMESTAMP)
        self.assertEqual(self.patch().returncode, APPLIED)
        pyc = py_compile.compile(self.file, doraise=True)
        self.assertEqual(self.patch().returncode, APPLIED)
        self.assertTrue(os.path.exists(pyc))


class Finding(Case):
    """Without --file the script finds the copy that python would run, without importing it."""

    def setUp(self):
        super().setUp()
        self.site = os.path.join(self.dir, "site")
        # Importing the package is a failure: the real one takes long, and needs a card.
        self.write(b"raise SystemExit('imported')\n", os.path.join(self.site, "sglang", "__init__.py"))
        self.write(CACHED)
        self.empty = os.path.join(self.dir, "empty")
        os.mkdir(self.empty)

    def find(self, *path, cwd=None, args=(), **options):
        env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        env["PYTHONPATH"] = os.pathsep.join(path)
        return self.run_script(*args, env=env, cwd=cwd or self.empty, **options)

    def test_Package_on_the_path(self):
        result = self.find(self.site)
        self.assertEqual((result.returncode, result.stderr), (APPLIED, ""))
        self.assertIn(self.file, result.stdout)
        self.assertNotEqual(self.read(), CACHED)
        self.assertFalse(os.path.exists(os.path.join(self.site, "sglang", "__pycache__")))

    def test_Package_in_the_working_directory(self):
        self.assertEqual(self.find(cwd=self.site).returncode, APPLIED)
        self.assertNotEqual(self.read(), CACHED)

    def test_Checkout_directory_named_sglang_does_not_hide_the_package(self):
        # An image has /workspace/sglang/python/sglang, installed as editable, and starts in /workspace.
        workspace = os.path.join(self.dir, "workspace")
        os.makedirs(os.path.join(workspace, "sglang", "python"))
        self.assertEqual(self.find(self.site, cwd=workspace).returncode, APPLIED)
        self.assertNotEqual(self.read(), CACHED)

    def test_Editable_install_by_an_import_hook(self):
        hook = os.path.join(self.dir, "hook")
        os.mkdir(hook)
        self.write(textwrap.dedent("""
            import importlib.machinery, importlib.util, sys
            class Finder:
                @staticmethod
                def find_spec(name, path=None, target=None):
                    if name == "sglang":
                        return importlib.util.spec_from_file_location(
                            name, %r + "/sglang/__init__.py", submodule_search_locations=[%r + "/sglang"])
            sys.meta_path.append(Finder)
            """ % (self.site, self.site)).encode(), os.path.join(hook, "sitecustomize.py"))
        self.assertEqual(self.find(hook).returncode, APPLIED)
        self.assertNotEqual(self.read(), CACHED)

    def test_Directory_of_the_script_is_not_searched(self):
        # The script lies in /tmp, where anybody may make a directory.
        script = os.path.join(self.site, "patch_k3_sm120.py")
        shutil.copy(SCRIPT, script)
        result = self.find(script=script)
        self.assertEqual(result.returncode, NOT_FOUND)
        self.assertEqual(self.read(), CACHED)

    def test_Two_different_copies_are_refused(self):
        other = os.path.join(self.dir, "other")
        shutil.copytree(self.site, other)
        result = self.find(self.site, cwd=other)
        self.assertEqual(result.returncode, NOT_FOUND)
        self.assertIn("--file", result.stderr)
        self.assertEqual(self.read(), CACHED)

    def test_No_sglang_installed(self):
        result = self.find()
        self.assertEqual((result.returncode, result.stdout), (NOT_FOUND, ""))
        self.assertIn("no package sglang", result.stderr)
        self.assertEqual(self.find(args=["--check"]).returncode, 2)

    def test_Sglang_without_the_file(self):
        os.unlink(self.file)
        result = self.find(self.site)
        self.assertEqual(result.returncode, NOT_FOUND)
        self.assertIn("attn_residual.py", result.stderr)

    def test_Root_names_the_directory_of_the_package(self):
        self.assertEqual(self.run_script("--root", self.site, cwd=self.empty).returncode, APPLIED)
        self.assertNotEqual(self.read(), CACHED)
        self.assertEqual(self.run_script("--root", self.empty, cwd=self.empty).returncode, NOT_FOUND)


if __name__ == "__main__":
    unittest.main()
