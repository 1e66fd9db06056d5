"""Tests of patch_k3_sm120.py: what it makes of a text."""

import os
import stat
import subprocess
import sys
import textwrap
import types
import unittest

from patch_k3_sm120_case import APPLIED, CACHED, HELPER_FIXED, NOT_FOUND, REFUSED, SCRIPT, Case, module, state

# Each of these is edited in exactly one place: `old` becomes `new`.
SHAPES = {
    "cached_constant": (CACHED, b"_CACHED = major >= 10", b"_CACHED = major == 10"),
    "no_blanks": (CACHED.replace(b"= major >= 10", b"=major>=10"), b"=major>=10", b"=major==10"),
    "comment_and_line_breaks": (
        CACHED.replace(b"= major >= 10", b"= (major  # >= 9\n   >= # >= 11\n 10)"), b"\n   >= #", b"\n   == #"),
    "backslash": (CACHED.replace(b"= major >= 10", b"= major \\\n  >= 10"), b"\\\n  >=", b"\\\n  =="),
    "mirrored": (CACHED.replace(b"= major >= 10", b"= 10 <= major"), b"10 <= major", b"10 == major"),
    "wide_characters_before_it": (
        CACHED.replace(b"_CACHED = major >=", "_CACHED = 'ÄÖ漢𝄞' and major >=".encode()),
        b"' and major >=", b"' and major =="),
    "subscript_of_the_call": (module("""
        def _use_fast(size):
            return torch.cuda.get_device_capability()[0] >= 10 and size == 7168
        """), b"[0] >= 10", b"[0] == 10"),
    "subscript_of_a_name": (module("""
        def _use_fast(size):
            cap = torch.cuda.get_device_capability()
            return cap[0] >= 10 and size == 7168
        """), b"[0] >= 10", b"[0] == 10"),
    "unpacked_from_a_name_then_early_return": (module("""
        def _use_fast(size):
            cap = torch.cuda.get_device_capability()
            (m, n) = cap
            if not m >= 10:
                return False
            return size == 7168
        """), b"not m >= 10", b"not m == 10"),
    "imported_function_and_cache_decorator": (module("""
        import functools
        @functools.lru_cache(maxsize=None)
        def _use_fast(size):
            major = torch.cuda.get_device_capability(0)[0]
            return bool(major >= 10) and size == 7168
        """), b"(major >= 10)", b"(major == 10)"),
    "inside_a_condition": (module("""
        if True:
            def _use_fast(size):
                major, minor = torch.cuda.get_device_capability()
                return size == 7168 if major >= 10 else False
        """), b"if major >= 10", b"if major == 10"),
}

# Nothing to edit: sm_120 is left out already, however that is spelled.
LEFT_OUT = {
    "fixed_upstream": HELPER_FIXED,
    "equal_mirrored": CACHED.replace(b"= major >= 10", b"= 10 == major"),
    "equal_named_constant": CACHED.replace(b"= major >= 10", b"= major == LIMIT"),
    "member_of": CACHED.replace(b"= major >= 10", b"= major in (10, 11)"),
    "range": CACHED.replace(b"= major >= 10", b"= 9 < major < 12"),
}

REFUSALS = {
    "no_gate": module("def _use_slow(size):\n    return False"),
    "empty_file": b"",
    "two_gates": CACHED + b"\n\n" + CACHED,
    "gate_is_a_method": module("""
        class Gate:
            def _use_fast(self, size):
                return torch.cuda.get_device_capability()[0] >= 10
        """),
    "comparison_twice": CACHED.replace(b"= major >= 10", b"= major >= 10 and 10 <= major"),
    "comparison_missing_always_on": CACHED.replace(b"= major >= 10", b"= True"),
    "comparison_missing_always_off": CACHED.replace(b"= major >= 10", b"= False"),
    "another_spelling_that_lets_sm120_in": CACHED.replace(b"= major >= 10", b"= major > 9"),
    "another_number": CACHED.replace(b"= major >= 10", b"= major >= 9"),
    "named_number": CACHED.replace(b"= major >= 10", b"= major >= LIMIT"),
    "faulty_helper_may_serve_others": HELPER_FIXED.replace(b" and major != 12", b""),
    "major_set_twice": CACHED.replace(b"_CACHED = major", b"major += 0\n        _CACHED = major"),
    "not_the_major": CACHED.replace(b"major, _ =", b"_, major ="),
    "other_fused_cards": CACHED.replace(b"= major >= 10", b"= major >= 10 or major == 9"),
    "unknown_function": CACHED.replace(b"is_npu()", b"is_full_moon()"),
    "unknown_decorator": CACHED.replace(b"def _use_fast", b"@torch.compile\ndef _use_fast"),
    "imports_inside": CACHED.replace(b"if is_npu()", b"import os\n    if is_npu()"),
    "syntax_error": CACHED + b"\ndef broken(:\n",
    "null_byte": CACHED + b"\0",
    "other_encoding": b"# -*- coding: latin-1 -*-\n" + CACHED.replace("≥".encode(), b"\xfc"),
    "invalid_utf8": CACHED + b"# \xff\n",
}


def gate_of(data):
    """The gate of a text, as a function of the capability; other code of ours, not the script's."""
    def taken(capability):
        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(get_device_capability=lambda *_: capability)
        utils = types.ModuleType("sglang.srt.utils")
        utils.is_cuda, utils.is_hip, utils.is_npu = (lambda: True), (lambda: False), (lambda: False)
        saved = dict(sys.modules)
        try:
            for name in ("sglang", "sglang.srt"):
                sys.modules[name] = types.ModuleType(name)
            sys.modules["torch"], sys.modules["sglang.srt.utils"] = torch, utils
            names = {}
            exec(compile(data, "gate", "exec"), names)
            return bool(names["_use_fast"](7168)), bool(names["_use_fast"](4096))
        finally:
            sys.modules.clear()
            sys.modules.update(saved)
    return taken


class Shapes(Case):
    def test_Each_known_shape_changes_by_its_operator_alone(self):
        for name, (text, old, new) in SHAPES.items():
            with self.subTest(name):
                self.assertEqual(text.count(old), 1)
                self.write(text)
                result = self.patch()
                self.assertEqual((result.returncode, result.stderr), (APPLIED, ""))
                self.assertIn(": applied: ", result.stdout)
                self.assertEqual(self.read(), text.replace(old, new))
                self.assert_only_file()

    def test_Patched_gate_takes_major_10_only(self):
        for name, (text, _, _) in SHAPES.items():
            with self.subTest(name):
                self.write(text)
                before = gate_of(self.read())
                self.assertEqual([before((m, 0)) for m in (9, 10, 12)], [(False, False), (True, False), (True, False)])
                self.assertEqual(self.patch().returncode, APPLIED)
                after = gate_of(self.read())
                self.assertEqual([after((m, 0)) for m in (8, 9, 10, 12)],
                                 [(False, False), (False, False), (True, False), (False, False)])

    def test_Second_run_says_already_applied_and_writes_nothing(self):
        for name, (text, _, _) in SHAPES.items():
            with self.subTest(name):
                self.write(text)
                self.assertEqual(self.patch().returncode, APPLIED)
                before = (self.read(), state(self.file))
                result = self.patch()
                self.assertEqual(result.returncode, APPLIED)
                self.assertIn("already applied", result.stdout)
                self.assertEqual((self.read(), state(self.file)), before)

    def test_Text_that_leaves_sm120_out_by_itself_is_kept(self):
        for name, text in LEFT_OUT.items():
            with self.subTest(name):
                self.write(text)
                before = state(self.file)
                result = self.patch()
                self.assertEqual((result.returncode, result.stderr), (APPLIED, ""))
                self.assertRegex(result.stdout, "nothing to do|already applied")
                self.assertEqual((self.read(), state(self.file)), (text, before))
                self.assertEqual(self.patch("--check").returncode, 0)

    def test_Line_ends_and_byte_order_mark_stay(self):
        crlf, bom = CACHED.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf"
        texts = {
            "crlf": crlf,
            "crlf_no_final_newline": crlf.rstrip(b"\r\n"),
            "no_final_newline": CACHED.rstrip(b"\n"),
            "bom": bom + CACHED,
            "bom_crlf": bom + crlf,
            "carriage_returns_only": CACHED.replace(b"\n", b"\r"),
            "mixed_ends_tabs_form_feed": CACHED.replace(b"\n", b"\r\n", 5).replace(b"    ", b"\t") + b"\f\n\n  \n",
        }
        for name, text in texts.items():
            with self.subTest(name):
                self.write(text)
                self.assertEqual(self.patch().returncode, APPLIED)
                self.assertEqual(self.read(), text.replace(b"_CACHED = major >=", b"_CACHED = major =="))


class Refusals(Case):
    def test_Unexpected_text_is_refused_and_left_alone(self):
        for name, text in REFUSALS.items():
            with self.subTest(name):
                self.write(text)
                before = state(self.file)
                result = self.patch()
                self.assertEqual((result.returncode, result.stdout), (REFUSED, ""))
                self.assertIn("nothing changed: ", result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, "one line, no traceback")
                self.assertEqual((self.read(), state(self.file)), (text, before))
                self.assert_only_file()

    def test_Message_says_what_was_expected_and_what_was_got(self):
        expected = {
            "no_gate": "expected one function _use_fast, found 0",
            "two_gates": "expected one function _use_fast, found 2",
            "comparison_twice": "expected one comparison `major >= 10` in _use_fast, found 2",
            "another_spelling_that_lets_sm120_in": "expected one comparison `major >= 10` in _use_fast, found 0",
            "comparison_missing_always_off": "decides in an unexpected way: sm_80 portable",
            "unknown_function": "is_full_moon",
            "syntax_error": "not valid python",
            "other_encoding": "encoded as iso-8859-1",
        }
        for name, text in expected.items():
            with self.subTest(name):
                self.write(REFUSALS[name])
                self.assertIn(text, self.patch().stderr)

    def test_File_that_does_not_exist(self):
        result = self.patch()
        self.assertEqual(result.returncode, NOT_FOUND)
        self.assertIn(self.file, result.stderr)

    def test_Usage_error_is_2(self):
        self.assertEqual(self.run_script("--file").returncode, 2)
        self.assertEqual(self.run_script("--file", "a", "--root", "b").returncode, 2)
        self.assertEqual(self.run_script("surplus").returncode, 2)


class Check(Case):
    def check(self):
        before = self.read(), state(self.file)
        result = self.patch("--check")
        self.assertEqual((self.read(), state(self.file)), before)
        return result.returncode

    def test_Check_tells_applied_from_not_applied_and_changes_nothing(self):
        self.write(CACHED)
        self.assertEqual(self.check(), 1)
        self.assertEqual(self.patch().returncode, APPLIED)
        self.assertEqual(self.check(), 0)

    def test_Check_says_2_where_it_cannot_tell(self):
        knows = {"another_spelling_that_lets_sm120_in", "comparison_twice", "faulty_helper_may_serve_others",
                 "major_set_twice", "named_number"}
        for name, text in REFUSALS.items():
            with self.subTest(name):
                self.write(text)
                # Where the gate can be run, its decision is known though the edit would be refused.
                self.assertEqual(self.check(), 1 if name in knows else 2)
        os.unlink(self.file)
        self.assertEqual(self.patch("--check").returncode, 2)


class Contract(Case):
    def test_Unforeseen_error_is_one_line_and_never_looks_like_a_verdict(self):
        self.write(CACHED)
        code = textwrap.dedent("""
            import importlib.util, sys
            spec = importlib.util.spec_from_file_location("patch", sys.argv[1])
            patch = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(patch)
            patch.parse = lambda data: 1 / 0
            sys.exit(patch.main(sys.argv[2:]))
            """)
        for extra, wanted in (([], REFUSED), (["--check"], 2)):
            result = subprocess.run([sys.executable, "-c", code, SCRIPT, "--file", self.file, *extra],
                                    capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((result.returncode, result.stdout, result.stderr.count("\n")), (wanted, "", 1))
            self.assertIn("ZeroDivisionError", result.stderr)
        self.assertEqual(self.read(), CACHED)

    def test_Script_uses_only_the_standard_library_and_is_executable(self):
        self.assertTrue(os.stat(SCRIPT).st_mode & stat.S_IXUSR)
        with open(SCRIPT, "rb") as file:
            text = file.read()
        self.assertNotIn(b"import torch", text)
        isolated = subprocess.run([sys.executable, "-I", "-S", SCRIPT, "--help"], capture_output=True,
                                  timeout=60, check=False)
        self.assertEqual(isolated.returncode, 0)


if __name__ == "__main__":
    unittest.main()
