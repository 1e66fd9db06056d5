"""The rules of include_arrows.py: each finds its fault, and nothing where there is none."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import include_arrows  # noqa: E402

LONG = "int x;\n" * 450

# path, text, rule that must speak (None: none)
CASES = [
    ("src/core/a.cpp", '#include "sskj/core/b.hpp"\n', None),
    ("src/core/a.cpp", '#include "sskj/plan/plan.hpp"\n', "arrows"),
    ("src/recipes/a.cpp", '#include "sskj/profile/profile.hpp"\n', None),  # through deploy
    ("src/view/a.cpp", '#include "sskj/deploy/deployment.hpp"\n', "arrows"),
    ("include/sskj/run/a.hpp", '#include "sskj/recipes/a.hpp"\n', "arrows"),
    ("src/app/a.cpp", '#include "sskj/ssh/a.hpp"\n', None),
    ("src/main.cpp", '#include "sskj/view/a.hpp"\n', None),
    ("src/other/a.cpp", "\n", "modules"),
    ("src/net/a.cpp", "#include <boost/asio.hpp>\n", None),
    ("src/net/a.hpp", "#include <boost/asio.hpp>\n", "third-party"),
    ("src/run/a.cpp", "#include <boost/asio.hpp>\n", "third-party"),
    ("src/deploy/a.cpp", "#include <yaml-cpp/yaml.h>\n", "third-party"),
    ("src/ssh/a.hpp", "#include <libssh2.h>\n", None),
    ("include/sskj/ssh/a.hpp", "#include <libssh2.h>\n", "third-party"),
    ("include/sskj/view/a.hpp", "#include <nlohmann/json.hpp>\n", "third-party"),
    ("include/sskj/view/a.hpp", "#include <nlohmann/json_fwd.hpp>\n", None),
    ("src/core/a.cpp", "#include <gtest/gtest.h>\n", "third-party"),
    ("src/core/a.cpp", LONG, "file-length"),
    ("src/core/a.cpp", "// table: many rows\n" + LONG, None),
    ("src/core/a.cpp", "int f(int a) {\n" + "  a += 1;\n" * 60 + "  return a;\n}\n", "function-length"),
    ("src/core/a.cpp", "struct S {\n  int f(int a) const {\n" + "    a += 1;\n" * 60 + "  }\n};\n", "function-length"),
    ("src/core/a.cpp", "int f(int a) {\n" + "  a += 1;\n" * 40 + "  return a;\n}\n", None),
    ("src/core/a.cpp", "auto f() {\n  static constexpr std::array rows{\n" + "      Row{1},\n" * 60 + "  };\n  return rows;\n}\n", None),
    ("src/core/a.cpp", "struct S {\n" + "  int a;\n" * 60 + "};\n", None),
    ("src/core/a.cpp", 'void f() { std::cout << "x"; }\n', "only-views-write"),
    ("src/core/a.cpp", 'void f() { printf("x"); }\n', "only-views-write"),
    ("src/core/a.cpp", 'const char* a = "printf(x)";  // printf(\n', None),
    ("src/core/a.cpp", "void f() { std::snprintf(b, 1, a); }\n", None),
    ("src/app/a.cpp", 'void f() { std::cerr << "x"; }\n', None),
    ("src/run/a.cpp", 'bool f(S verb) { return verb == "start"; }\n', "names-in-tables"),
    ("src/checks/a.cpp", 'bool f(S g) { return "prefill" == g.role; }\n', "names-in-tables"),
    ("src/app/a.cpp", 'bool f(S verb) { return verb == "start"; }\n', None),
    ("src/view/a.cpp", 'bool f(S kind) { return kind == "status"; }\n', None),
    ("src/core/a.cpp", "static int counter = 0;\n", "no-global-state"),
    ("src/core/a.cpp", "static const int k_one = 1;\ninline constexpr int k_two = 2;\n", None),
]


class Rules(unittest.TestCase):
    def test_each_case(self):
        for path, text, want in CASES:
            with self.subTest(path=path, text=text[:60]), tempfile.TemporaryDirectory() as root:
                full = os.path.join(root, path)
                os.makedirs(os.path.dirname(full))
                with open(full, "w", encoding="utf-8") as out:
                    out.write(text)
                _, faults = include_arrows.check(root)
                self.assertEqual({name for name, *_ in faults}, {want} - {None}, faults)

    def test_every_rule_has_a_case_that_breaks_it(self):
        self.assertEqual({want for *_, want in CASES} - {None}, {name for name, _ in include_arrows.RULES})

    def test_the_table_is_the_one_in_the_document(self):
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        with open(os.path.join(root, "docs", "architecture.md"), encoding="utf-8") as handle:
            document = handle.read()
        for module, uses in include_arrows.ARROWS.items():
            row = next((line for line in document.splitlines() if line.startswith(f"| `{module}` |")), None)
            self.assertIsNotNone(row, f"docs/architecture.md has no row for {module}")
            named = [word.strip().strip("`") for word in row.split("|")[2].split(",") if word.strip() and word.strip() != "-"]
            self.assertEqual(named, uses, f"docs/architecture.md, row {module}")


if __name__ == "__main__":
    unittest.main()
