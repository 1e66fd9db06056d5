"""What the engine says: it thinks, then answers; arithmetic is worked out, not looked up."""
import re

_TOKEN = re.compile(r"\s*(?:\d{1,3}(?=(?:\d{3})*\b)|[^\W\d]{1,8}|[^\w\s])|\s+")
_ARITHMETIC = re.compile(r"(\d{1,15})\s*([*x×·+\-]|\\times|times|plus|minus)\s*(\d{1,15})", re.I)
_FILLER = "Let me look at the request once more and check that nothing in it was missed."
OPEN_THINK = ["<|open|>", "think", "<|sep|>"]
CLOSE_THINK = ["<|close|>", "think", "<|sep|>"]
OPEN_RESPONSE = ["<|open|>", "response", "<|sep|>"]
CLOSE_RESPONSE = ["<|close|>", "response", "<|sep|>"]


def tokenize(text):
    """Pieces that join to the text again: words, up to three digits, single signs."""
    pieces, at = [], 0
    for match in _TOKEN.finditer(text):
        if match.start() > at:
            pieces.append(text[at:match.start()])
        pieces.append(match.group())
        at = match.end()
    if at < len(text):
        pieces.append(text[at:])
    return pieces


def count_tokens(text):
    return len(tokenize(text))


def find_arithmetic(text):
    """(a, sign, b) of the last such expression, or None."""
    found = _ARITHMETIC.findall(text)
    if not found:
        return None
    a, sign, b = found[-1]
    sign = sign.lower()
    return int(a), "+" if sign in ("+", "plus") else "-" if sign in ("-", "minus") else "*", int(b)


def compute(a, sign, b):
    return a + b if sign == "+" else a - b if sign == "-" else a * b


def steps_of(a, sign, b):
    """The way to the result without the result itself, so that a cut thought does not give it away."""
    if sign != "*":
        return f"I line the digits of {a} and {b} up and work from right to left, keeping an eye on the carries as I go."
    tens, ones = b // 10 * 10, b % 10
    return (f"I split the second factor into tens and ones and multiply each part on its own: {a} times {tens} gives {a * tens}, "
            f"and {a} times {ones} gives {a * ones}. Both partial products look right when I check them again. Now I only have to add them up.")


class Reply:
    """thinking and answer as token lists."""

    def __init__(self, prompt, config):
        problem = find_arithmetic(prompt)
        if problem:
            value = compute(*problem) + (1 if config["wrong_answer"] else 0)
            shown = f"{value:,}" if config["answer_style"] == "comma" else str(value)
            a, sign, b = problem
            head, tail = f"The user asks for {a} {sign} {b} and wants the result.", f"That gives {value}."
            body, answer = steps_of(a, sign, b), f"{a} {sign} {b} = {shown}"
        else:
            head, body, tail = "The user wrote something that is not a sum.", "I have no model behind me, so I say what I am.", "Then I answer."
            answer = f"This is the lab's stand-in engine; it read {count_tokens(prompt)} tokens."
        thought = " ".join((head, body, tail))
        while count_tokens(thought) + count_tokens(_FILLER) <= int(config["think_tokens"]):
            head += " " + _FILLER
            thought = " ".join((head, body, tail))
        self.thinking, self.answer = tokenize(thought), tokenize(answer)


def render(reply, limit, ignore_eos=False, minimum=0):
    """([(channel, token)], finish reason) cut at the limit; channels are mark, think, answer."""
    def row(channel, tokens):
        return [(channel, t) for t in tokens]
    tokens = (row("mark", OPEN_THINK) + row("think", reply.thinking) + row("mark", CLOSE_THINK) + row("mark", OPEN_RESPONSE)
              + row("answer", reply.answer))
    closing = row("mark", CLOSE_RESPONSE)
    wanted = limit if ignore_eos and limit is not None else minimum
    while len(tokens) + len(closing) < wanted:
        tokens.append(("answer", " and"))
    tokens += closing
    if limit is not None and (len(tokens) >= limit if ignore_eos else len(tokens) > limit):
        return tokens[:limit], "length"
    return tokens, "stop"
