"""The API of a running stand-in, on loopback."""
import concurrent.futures
import json
import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import Engine, make_weights  # noqa: E402

SUM = "What is 23*47? Answer briefly."


class Served(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.weights = make_weights()
        cls.addClassCleanup(cls.weights.cleanup)

    def engine(self, *flags, **options):
        engine = Engine(self.weights.name, *flags, **options)
        self.addCleanup(engine.stop)
        return engine.ready()


class Chat(Served):
    def setUp(self):
        self.server = self.engine("--served-model-name", "kimi-k3", "--reasoning-parser", "kimi_k3", "--tool-call-parser", "kimi_k3", "--context-length", "4096", "--tp", "2")

    def test_answer_reasoning_and_usage(self):
        whole = self.server.chat(SUM, model="kimi-k3", max_tokens=128)
        choice, usage = whole["choices"][0], whole["usage"]
        self.assertEqual((whole["object"], choice["finish_reason"], choice["matched_stop"]), ("chat.completion", "stop", 163586))
        self.assertIn("1081", choice["message"]["content"])
        self.assertNotIn("<|open|>", json.dumps(choice["message"]))
        self.assertGreater(len(choice["message"]["reasoning_content"]), 100)
        self.assertEqual(usage["prompt_tokens"] + usage["completion_tokens"], usage["total_tokens"])
        self.assertTrue(60 <= usage["reasoning_tokens"] <= 100)

    def test_too_few_tokens_end_in_thought(self):
        for field in ("max_tokens", "max_completion_tokens"):
            choice = self.server.chat(SUM, **{field: 32})["choices"][0]
            self.assertEqual((choice["finish_reason"], choice["message"]["content"]), ("length", None))

    def test_stream(self):
        rows = self.server.events("/v1/chat/completions", {"messages": [{"role": "user", "content": [{"type": "text", "text": SUM}]}], "stream_options": {"include_usage": True}})
        self.assertEqual(rows[0]["choices"][0]["delta"]["role"], "assistant")
        self.assertEqual(rows[0]["choices"][0]["delta"]["content"], "")
        deltas = [r["choices"][0] for r in rows[:-1]]
        self.assertIn("1081", "".join(d["delta"]["content"] or "" for d in deltas))
        self.assertIn("split", "".join(d["delta"]["reasoning_content"] or "" for d in deltas))
        self.assertEqual([d["finish_reason"] for d in deltas if d["finish_reason"]], ["stop"])
        self.assertEqual((rows[-1]["choices"], rows[-1]["usage"]["completion_tokens"] > 60), ([], True))
        self.assertTrue(all(r["object"] == "chat.completion.chunk" for r in rows))

    def test_no_usage_unless_asked(self):
        rows = self.server.events("/v1/chat/completions", {"messages": [{"role": "user", "content": SUM}]})
        self.assertTrue(all(r["choices"] for r in rows))

    def test_bad_requests(self):
        for body in ("{", "[]", {"messages": []}, {"messages": "x"}, {"messages": [{"role": "user", "content": "x"}], "max_tokens": 0}):
            status, text = self.server.request("POST", "/v1/chat/completions", body)
            self.assertEqual((status, json.loads(text)["object"]), (400, "error"))
        status, text = self.server.request("POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": "word " * 5000}]})
        self.assertEqual(status, 400)
        self.assertIn("Requested token count exceeds the model's maximum context length", text)

    def test_first_long_prompt_is_slow_and_later_ones_are_not(self):
        times = []
        for n in range(2):
            begin = time.monotonic()
            self.server.chat(f"{n} " + "word " * 400, max_tokens=1)
            times.append(time.monotonic() - begin)
        self.assertGreater(times[0], 0.3)
        self.assertLess(times[1], times[0])

    def test_descriptions(self):
        model = json.loads(self.server.get("/v1/models")[1])["data"][0]
        self.assertEqual((model["id"], model["owned_by"], model["max_model_len"]), ("kimi-k3", "sglang", 4096))
        for path in ("/model_info", "/get_model_info"):
            self.assertEqual(json.loads(self.server.get(path)[1])["model_path"], self.weights.name)
        for path in ("/server_info", "/get_server_info"):
            info = json.loads(self.server.get(path)[1])
            self.assertEqual((info["tp_size"], info["reasoning_parser"], bool(info["version"])), (2, "kimi_k3", True))
        self.assertEqual(self.server.get("/metrics")[0], 404)
        self.assertEqual(self.server.get("/nothing")[0], 404)
        self.assertEqual(self.server.request("POST", "/flush_cache")[0], 200)

    def test_many_at_once(self):
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            answers = list(pool.map(lambda n: self.server.chat(f"{n}*3", max_tokens=200)["choices"][0]["message"]["content"], range(64)))
        self.assertEqual(answers, [f"{n} * 3 = {n * 3}" for n in range(64)])


class Generate(Served):
    def setUp(self):
        self.server = self.engine("--enable-metrics", "--enable-cache-report")

    def test_raw_text_shows_the_channels(self):
        answer = json.loads(self.server.request("POST", "/generate", {"text": "23*47", "sampling_params": {"max_new_tokens": 128}})[1])
        self.assertTrue(answer["text"].startswith("<|open|>think<|sep|>"))
        self.assertIn("<|open|>response<|sep|>23 * 47 = 1081", answer["text"])
        self.assertEqual(answer["meta_info"]["finish_reason"]["type"], "stop")

    def test_stream_is_cumulative(self):
        rows = self.server.events("/generate", {"text": "23*47", "sampling_params": {"max_new_tokens": 128}})
        for before, after in zip(rows, rows[1:]):
            self.assertTrue(after["text"].startswith(before["text"]))
        self.assertEqual([bool(r["meta_info"]["finish_reason"]) for r in rows], [False] * (len(rows) - 1) + [True])
        self.assertEqual(rows[-1]["meta_info"]["completion_tokens"], len(rows))

    def test_exact_lengths_for_benchmarks(self):
        answer = json.loads(self.server.request("POST", "/generate", {"input_ids": [5] * 300, "sampling_params": {"max_new_tokens": 200, "ignore_eos": True}})[1])
        self.assertEqual((answer["meta_info"]["prompt_tokens"], answer["meta_info"]["completion_tokens"], answer["meta_info"]["finish_reason"]), (300, 200, {"type": "length", "length": 200}))

    def test_chat_without_a_parser_has_the_marks_in_its_content(self):
        message = self.server.chat(SUM)["choices"][0]["message"]
        self.assertIn("<|open|>think", message["content"])
        self.assertIsNone(message["reasoning_content"])

    def test_cache_and_metrics(self):
        self.server.chat(SUM)
        self.assertGreater(self.server.chat(SUM)["usage"]["prompt_tokens_details"]["cached_tokens"], 0)
        self.server.request("POST", "/flush_cache")
        self.assertEqual(self.server.chat(SUM)["usage"]["prompt_tokens_details"]["cached_tokens"], 0)
        self.assertRegex(self.server.get("/metrics")[1], r'sglang:num_requests_total\{[^}]*\} \d')


class Behaviour(Served):
    def test_api_key(self):
        server = self.engine("--api-key", "sesame")
        for headers, wanted in (({}, 401), ({"Authorization": "Bearer wrong"}, 401), ({"Authorization": "sesame"}, 401), ({"Authorization": "Bearer sesame"}, 200)):
            self.assertEqual(server.get("/v1/models", headers=headers)[0], wanted)
        self.assertEqual(json.loads(server.get("/v1/models")[1]), {"error": "Unauthorized"})
        self.assertEqual((server.get("/health")[0], server.get("/health_generate")[0]), (200, 200))

    def test_switches_reach_a_running_engine(self):
        server, path = self.engine("--reasoning-parser", "kimi_k3"), os.path.join(self.weights.name, ".standin.json")
        self.addCleanup(lambda: os.path.exists(path) and os.remove(path))

        def switch(**values):
            with open(path + ".new", "w", encoding="utf-8") as f:
                json.dump(values, f)
            os.rename(path + ".new", path)
        switch(wrong_answer=True)
        self.assertIn("1082", server.chat(SUM)["choices"][0]["message"]["content"])
        switch(answer_style="comma")
        self.assertIn("1,081", server.chat(SUM)["choices"][0]["message"]["content"])
        switch(health=503)
        self.assertEqual(server.get("/health"), (503, ""))
        os.remove(path)
        self.assertEqual(server.get("/health"), (200, ""))

    def test_dead_schedulers_leave_http_up(self):
        server = self.engine("--tp", "2", switches={"die_after_ready": {"mode": "schedulers", "after": 1}}, environment={"SGLANG_HEALTH_CHECK_TIMEOUT": "1"})
        time.sleep(2.5)
        self.assertEqual((server.get("/ping")[0], server.get("/v1/models")[0], server.get("/health")[0]), (200, 200, 503))
        with self.assertRaises(TimeoutError):
            server.request("POST", "/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}]}, timeout=1.5)

    def test_sigterm_drains(self):
        server = self.engine(switches={"token_s": 0.02})
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            answer = pool.submit(server.chat, SUM)
            time.sleep(0.5)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            self.assertEqual(server.get("/health")[0], 503)
            self.assertEqual(answer.result()["choices"][0]["finish_reason"], "stop")
        self.assertEqual(server.wait(), 0)
        self.assertIn("Gracefully exiting... Remaining number of requests 1.", server.log())

    def test_sigterm_may_be_slow_or_ignored(self):
        slow, deaf = self.engine(switches={"drain": 1.5}), self.engine(switches={"ignore_sigterm": True})
        for server in (slow, deaf):
            server.process.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        self.assertEqual(slow.wait(), 0)
        self.assertGreater(time.monotonic() - begin, 1.2)
        time.sleep(0.5)
        self.assertIsNone(deaf.process.poll())


if __name__ == "__main__":
    unittest.main()
