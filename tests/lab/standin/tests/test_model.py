"""What the stand-in says, without a process."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from sglang.standin import model  # noqa: E402

PLAIN = {"answer_style": "plain", "wrong_answer": None, "think_tokens": 80}


def reply(prompt, **switches):
    return model.Reply(prompt, {**PLAIN, **switches})


class Answers(unittest.TestCase):
    def test_arithmetic_is_worked_out(self):
        for prompt, wanted in (("What is 23*47? Answer briefly.", "1081"), ("12 x 12", "144"), ("7 × 8?", "56"), ("23 · 47", "1081"),
                               ("What is 9 times 9?", "81"), ("5 + 6", "11"), ("5-6", "-1"), ("first 2*3, then 4*5", "20")):
            with self.subTest(prompt):
                self.assertTrue("".join(reply(prompt).answer).endswith("= " + wanted))

    def test_styles(self):
        self.assertIn("1,081", "".join(reply("23*47", answer_style="comma").answer))
        self.assertIn("1082", "".join(reply("23*47", wrong_answer=True).answer))

    def test_a_cut_thought_does_not_give_the_result_away(self):
        thinking = reply("What is 23*47?").thinking
        self.assertGreaterEqual(len(thinking), 60)
        self.assertLessEqual(len(thinking), 100)
        self.assertNotIn("1081", "".join(thinking[:60]))
        self.assertIn("1081", "".join(thinking))

    def test_other_prompts_are_answered_too(self):
        self.assertIn("stand-in", "".join(reply("Hello").answer))

    def test_tokens_join_to_their_text(self):
        for text in ("a b  c", "23*47 = 1081", "ünï \n{}", "", "  "):
            self.assertEqual("".join(model.tokenize(text)), text)

    def test_limits(self):
        whole, reason = model.render(reply("23*47"), None)
        self.assertEqual(reason, "stop")
        cut, reason = model.render(reply("23*47"), 20)
        self.assertEqual((len(cut), reason), (20, "length"))
        exact, reason = model.render(reply("23*47"), len(whole))
        self.assertEqual((len(exact), reason), (len(whole), "stop"))
        long, reason = model.render(reply("23*47"), 500, ignore_eos=True)
        self.assertEqual((len(long), reason), (500, "length"))


if __name__ == "__main__":
    unittest.main()
