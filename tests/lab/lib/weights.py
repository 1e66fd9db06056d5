"""Writes the weights stand-in: a small directory with the shape of the real one (index, 96 valid safetensors shards).

Usage: weights.py DIR. The same bytes each time.
"""
import hashlib
import json
import os
import struct
import sys

SHARDS = 96
HIDDEN = 7168


def tensor_bytes(name, size):
    seed = hashlib.sha256(name.encode()).digest()
    return (seed * (size // len(seed) + 1))[:size]


def shard_tensors(number):
    """(name, dtype, shape) of the tensors of one shard; the shards differ in size, as real ones do."""
    layer = f"language_model.model.layers.{number - 1}"
    rows = 16 + number % 7
    tensors = [(f"{layer}.block_sparse_moe.experts.0.w1.weight_packed", "U8", [rows, 256]),
               (f"{layer}.block_sparse_moe.experts.0.w1.weight_scale", "U8", [rows, 16]),
               (f"{layer}.input_layernorm.weight", "BF16", [512]),
               (f"{layer}.self_attn.A_log", "F32", [96])]
    if number == 1:
        tensors.append(("language_model.model.embed_tokens.weight", "BF16", [8, 512]))
    if number == SHARDS:
        tensors.append(("language_model.lm_head.weight", "BF16", [8, 512]))
    return tensors


def size_of(dtype, shape):
    size = {"U8": 1, "BF16": 2, "F32": 4}[dtype]
    for dim in shape:
        size *= dim
    return size


def write_shard(directory, number):
    name = f"model-{number:05d}-of-{SHARDS:06d}.safetensors"
    header, body = {"__metadata__": {"format": "pt"}}, b""
    for tensor, dtype, shape in shard_tensors(number):
        data = tensor_bytes(tensor, size_of(dtype, shape))
        header[tensor] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(directory, name), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + body)
    return name, [t for t in header if t != "__metadata__"], len(body)


def write_json(directory, name, value):
    with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
        json.dump(value, f, indent=2)
        f.write("\n")


def main(directory):
    os.makedirs(directory, exist_ok=True)
    weight_map, total = {}, 0
    for number in range(1, SHARDS + 1):
        name, tensors, size = write_shard(directory, number)
        weight_map.update({tensor: name for tensor in tensors})
        total += size
    write_json(directory, "model.safetensors.index.json", {"metadata": {"total_size": total}, "weight_map": weight_map})
    write_json(directory, "config.json", {
        "architectures": ["KimiK3ForConditionalGeneration"], "model_type": "kimi_k3",
        "auto_map": {"AutoConfig": "configuration_kimi_k3.KimiK3Config"},
        "text_config": {"model_type": "kimi_linear", "hidden_size": HIDDEN, "num_hidden_layers": SHARDS,
                        "num_attention_heads": 64, "vocab_size": 163840, "max_position_embeddings": 1048576},
        "torch_dtype": "bfloat16", "quantization_config": {"quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized"}})
    write_json(directory, "generation_config.json", {"eos_token_id": 163586, "max_length": 1048576})
    write_json(directory, "tokenizer_config.json", {"tokenizer_class": "TikTokenTokenizer", "model_max_length": 1048576,
                                                    "auto_map": {"AutoTokenizer": ["tokenization_kimi.TikTokenTokenizer", None]}})
    for name, text in (("configuration_kimi_k3.py", "# stands for the model's own configuration code\n"),
                       ("tokenization_kimi.py", "# stands for the model's own tokenizer code\n"),
                       ("chat_template.jinja", "{{ messages }}\n"), ("tiktoken.model", "IQ== 0\nIg== 1\n")):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
            f.write(text)


main(sys.argv[1])
