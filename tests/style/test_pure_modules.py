"""The rules of pure_modules.py: each finds its fault, and nothing where there is none."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pure_modules  # noqa: E402

NM = """
journal.cpp.o:
                 U open
                 U write@GLIBC_2.2.5
                 w __gmon_start__
executor.cpp.o:
                 U _ZNSt6chrono3_V212steady_clock3nowEv
                 U _ZN4sskj4text15format_durationENSt6chrono8durationIlEE
                 U connect@GLIBC_2.2.5
                 U memcpy
"""


class PureModules(unittest.TestCase):
    def test_undefined_symbols_are_read_without_their_version(self):
        names = pure_modules.undefined(NM)
        self.assertIn("write", names)
        self.assertIn("connect", names)
        self.assertEqual(len(names), 7)

    def test_run_may_write_files_but_has_no_clock_and_no_socket(self):
        found = pure_modules.forbidden(pure_modules.undefined(NM), pure_modules.RULES["run"])
        self.assertEqual(found, ["_ZNSt6chrono3_V212steady_clock3nowEv", "connect"])

    def test_plan_may_not_even_open_a_file(self):
        found = pure_modules.forbidden(pure_modules.undefined(NM), pure_modules.RULES["plan"])
        self.assertIn("open", found)

    def test_each_kind_is_known(self):
        for name in ("socket", "getaddrinfo", "clock_gettime", "time", "getenv", "fork", "_ZNSt6thread4joinEv", "_ZSt4cout", "fopen"):
            self.assertEqual(pure_modules.forbidden({name}, pure_modules.PURE), [name])
        for name in ("memcpy", "strtod", "_ZN4sskj3run7Journal4openE", "snprintf", "strftime"):
            self.assertEqual(pure_modules.forbidden({name}, pure_modules.PURE), [])


if __name__ == "__main__":
    unittest.main()
