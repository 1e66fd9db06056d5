"""The routes of rank 0: method tables of path -> function(handler, engine)."""
import os
import time

from sglang.standin import model


def health(handler, engine):
    limit = float(os.environ.get("SGLANG_HEALTH_CHECK_TIMEOUT", 20))
    handler.reply(200 if engine.healthy(limit) else 503)


def ping(handler, engine):
    handler.reply(200)


def server_info(handler, engine):
    while not engine.scheduler_answers(2.0):
        pass  # asks the scheduler, so it hangs when that is stuck
    handler.reply(200, engine.server_info())


def metrics(handler, engine):
    if not engine.args.enable_metrics:
        return handler.reply(404, {"detail": "Not Found"})
    handler.reply(200, engine.metrics(), "text/plain; version=0.0.4; charset=utf-8")


def flush_cache(handler, engine):
    handler.drop_body()
    done = engine.flush()
    handler.reply(200 if done else 400, "Cache flushed.\nPlease check backend logs for more details. "
                  "(When there are running or waiting requests, the operation will not be performed.)\n", "text/plain")


def message_text(message):
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "\n".join(part.get("text", "") for part in content if isinstance(part, dict) and part.get("type") == "text")
    return str(content)


def over_length(handler, engine, prompt_tokens, limit):
    """400 as the real server answers a request that cannot fit; True when it was sent."""
    total = prompt_tokens + (limit or 0)
    if total <= engine.context:
        return False
    handler.error(400, f"Requested token count exceeds the model's maximum context length of {engine.context} tokens. You requested a total of "
                  f"{total} tokens: {prompt_tokens} tokens from the input messages and {limit or 0} tokens for the completion. Please reduce the "
                  "number of tokens in the input messages or the completion to fit within the limit.")
    return True


def positive_limit(handler, value, name):
    """(ok, limit)"""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return True, value
    handler.error(400, f"{name} must be a positive integer, got {value!r}")
    return False, None


# /v1/chat/completions ---------------------------------------------------------------------------------------------------------


def chat(handler, engine):
    request = handler.body()
    if request is None:
        return
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(m, dict) for m in messages):
        return handler.error(400, "messages: Field required and must be a non-empty list")
    ok, limit = positive_limit(handler, request.get("max_completion_tokens") or request.get("max_tokens"), "max_tokens")
    if not ok:
        return
    texts = [message_text(m) for m in messages]
    users = [t for m, t in zip(messages, texts) if m.get("role") == "user"]
    prompt_tokens = sum(model.count_tokens(t) + 4 for t in texts)
    if over_length(handler, engine, prompt_tokens, limit):
        return
    generation = engine.generate(users[-1] if users else texts[-1], prompt_tokens, limit, bool(request.get("ignore_eos")), int(request.get("min_tokens") or 0))
    generation.prompt = "\x00".join(texts)
    split = engine.args.reasoning_parser is not None and request.get("separate_reasoning", True)
    if request.get("stream"):
        return chat_stream(handler, engine, request, generation, split)
    reasoning, content = [], []
    for channel, token in generation:
        place_token(channel, token, split, reasoning, content)
    message = {"role": "assistant", "content": "".join(content) or None, "reasoning_content": "".join(reasoning) or None, "tool_calls": None}
    handler.reply(200, {"id": generation.id, "object": "chat.completion", "created": int(time.time()), "model": request.get("model") or engine.args.served_model_name,
                        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": generation.reason, "matched_stop": matched(generation)}],
                        "usage": generation.usage(), "metadata": {"weight_version": "default"}})


def place_token(channel, token, split, reasoning, content):
    """With a parser, marks vanish and thinking goes its own way; without, all is content."""
    if not split:
        content.append(token)
    elif channel == "think":
        reasoning.append(token)
    elif channel == "answer":
        content.append(token)


def matched(generation):
    return 163586 if generation.reason == "stop" else None


def chat_stream(handler, engine, request, generation, split):
    options = request.get("stream_options") or {}
    base = {"id": generation.id, "object": "chat.completion.chunk", "created": int(time.time()), "model": request.get("model") or engine.args.served_model_name}

    def chunk(delta, reason=None, stop=None):
        value = {**base, "choices": [{"index": 0, "delta": {"role": None, "content": None, "reasoning_content": None, "tool_calls": None, **delta},
                                      "logprobs": None, "finish_reason": reason, "matched_stop": stop}], "usage": None}
        if options.get("continuous_usage_stats"):
            value["usage"] = generation.usage()
        handler.event(value)
    handler.start_stream()
    first, reasoning, content = True, [], []
    for channel, token in generation:
        if first:
            chunk({"role": "assistant", "content": ""})
            first = False
        place_token(channel, token, split, reasoning, content)
        if generation.done % engine.args.stream_interval and generation.done < len(generation.tokens):
            continue
        if reasoning:
            chunk({"reasoning_content": "".join(reasoning)})
        if content:
            chunk({"content": "".join(content)})
        reasoning, content = [], []
    chunk({}, generation.reason, matched(generation))
    if options.get("include_usage"):
        handler.event({**base, "choices": [], "usage": generation.usage()})
    handler.end_stream()


# /v1/completions and /generate ------------------------------------------------------------------------------------------------


def generate(handler, engine):
    request = handler.body()
    if request is None:
        return
    parameters = request.get("sampling_params") or {}
    ok, limit = positive_limit(handler, parameters.get("max_new_tokens", 128), "max_new_tokens")
    if not ok:
        return
    if "text" in request:
        prompts = request["text"] if isinstance(request["text"], list) else [request["text"]]
        counts = [model.count_tokens(str(p)) for p in prompts]
    elif request.get("input_ids"):
        ids = request["input_ids"]
        ids = ids if isinstance(ids[0], list) else [ids]
        prompts, counts = [" ".join(map(str, i)) for i in ids], [len(i) for i in ids]
    else:
        return handler.error(400, "Either text, input_ids or input_embeds should be provided.")
    if any(over_length(handler, engine, n, limit) for n in counts[:1]):
        return
    many = isinstance(request.get("text"), list)
    jobs = [engine.generate(str(p), n, limit, bool(parameters.get("ignore_eos")), int(parameters.get("min_new_tokens") or 0)) for p, n in zip(prompts, counts)]
    if request.get("stream"):
        return generate_stream(handler, engine, jobs[0])
    results = []
    for job in jobs:
        text = "".join(token for _, token in job)
        results.append({"text": text, "output_ids": list(range(100, 100 + job.done)), "meta_info": meta_info(job, final=True)})
    handler.reply(200, results if many else results[0])


def meta_info(job, final):
    reason = None
    if final:
        reason = {"type": "stop", "matched": 163586} if job.reason == "stop" else {"type": "length", "length": job.done}
    info = {"id": job.id, "finish_reason": reason, "prompt_tokens": job.prompt_tokens, "weight_version": "default", "num_retractions": 0,
            "completion_tokens": job.done, "cached_tokens": job.cached, "reasoning_tokens": job.reasoning, "dp_rank": None}
    if final:
        info["e2e_latency"] = job.seconds
    return info


def generate_stream(handler, engine, job):
    handler.start_stream()
    text, total = "", len(job.tokens)
    incremental = engine.args.incremental_streaming_output
    for _, token in job:
        text += token
        if job.done == total or job.done % engine.args.stream_interval:
            continue  # the last one is sent below, with its reason
        handler.event({"text": text, "output_ids": [], "meta_info": meta_info(job, final=False)})
        if incremental:
            text = ""
    handler.event({"text": text, "output_ids": [], "meta_info": meta_info(job, final=True)})
    handler.end_stream()


GET = {"/health": health, "/health_generate": health, "/ping": ping, "/metrics": metrics, "/metrics/": metrics, "/flush_cache": flush_cache,
       "/v1/models": lambda h, e: h.reply(200, e.models()), "/model_info": lambda h, e: h.reply(200, e.model_info()),
       "/get_model_info": lambda h, e: h.reply(200, e.model_info()), "/server_info": server_info, "/get_server_info": server_info,
       "/": lambda h, e: h.reply(200, "SGLang server is running.\n", "text/plain")}
POST = {"/v1/chat/completions": chat, "/generate": generate, "/flush_cache": flush_cache,
        "/abort_request": lambda h, e: (h.drop_body(), h.reply(200))}
