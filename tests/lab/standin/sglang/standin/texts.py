"""Failure texts by the id of the error catalogue (M memory and device, F files, N rendezvous and NCCL): the exception's type and message."""

CATALOGUE = {
    "M1": ("RuntimeError", "Not enough GPU memory for hybrid (mamba/linear-attention) state cache. Computed max_mamba_cache_size=-12 "
           "(total_rest_memory=-3.41 GB, mamba_cache_per_req=146.81 MB). Try: (1) reduce --max-running-requests, "
           "(2) increase --mem-fraction-static, (3) reduce --speculative-num-draft-tokens, or (4) use GPUs with more memory."),
    "M2": ("RuntimeError", "Not enough memory. Please try to increase --mem-fraction-static. Current value: self.mem_fraction_static=0.85"),
    "M3": ("RuntimeError", "The memory capacity is unbalanced. Some GPUs may be occupied by other processes. "
           "pre_model_load_memory=43.12, local_gpu_memory=83.62, local_gpu_memory * 0.9=75.26"),
    "M4": ("torch.OutOfMemoryError", "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 84.50 GiB of which "
           "1.12 GiB is free. Including non-PyTorch memory, this process has 83.37 GiB memory in use."),
    "M5": ("Exception", "Capture cuda graph failed: CUDA error: out of memory"),
    "M8": ("torch.AcceleratorError", "CUDA error: no kernel image is available for execution on the device"),
    "M9": ("RuntimeError", "ptxas fatal   : ptxas /tmp/tvm-ffi/attn_res_tma.ptx, line 211; error   : Feature '.tcgen05' requires .target sm_100a or higher; "
           "Instruction 'tcgen05.mma' not supported on .target 'sm_120'"),
    "M10": ("torch.AcceleratorError", "CUDA error: an illegal memory access was encountered"),
    "M12": ("RuntimeError", "CUDA driver version is insufficient for CUDA runtime version"),
    "F1": ("ValueError", "Model architectures ['KimiK3ForConditionalGeneration'] are not supported for now. Supported architectures: dict_keys(['LlamaForCausalLM'])"),
    "F8": ("OSError", "[Errno 5] Input/output error: 'model-00007-of-000096.safetensors'"),
    "N1": ("RuntimeError", "NCCL error: invalid usage (run with NCCL_DEBUG=WARN for details): no algorithm/protocol available for function AllReduce with datatype ncclBfloat16"),
    "N2": ("RuntimeError", "NCCL error: unhandled system error: Call to ibv_create_cq failed with error Cannot allocate memory"),
    "N4": ("RuntimeError", "Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error"),
    "N6": ("torch.distributed.DistBackendError", "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600021 milliseconds before timing out."),
    "N7": ("RuntimeError", "Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)"),
}

# What an exit at a phase says when the switch names no id: what that phase most often dies of.
BY_PHASE = {"args": "F1", "dist": "N4", "weights": "M4", "kernels": "M8", "kv": "M1", "graphs": "M5", "http": "M4", "warmup": "M10", "ready": "M10"}

SOURCE = {"args": "model_config.py", "dist": "bootstrap.py", "weights": "weight_utils.py", "kernels": "kimi_k3.py", "kv": "kv_cache_configurator.py",
          "graphs": "decode_cuda_graph_runner.py", "http": "scheduler.py", "warmup": "scheduler.py", "ready": "scheduler.py"}


def traceback_text(kind, message, phase):
    """A traceback in the shape that SGLang logs after 'Scheduler hit an exception:'."""
    base = "/sgl-workspace/sglang/python/sglang/srt"
    return ("Traceback (most recent call last):\n"
            f'  File "{base}/managers/scheduler.py", line 3162, in run_scheduler_process\n'
            "    scheduler = Scheduler(server_args, port_args, gpu_id, tp_rank, ep_rank)\n"
            f'  File "{base}/{SOURCE.get(phase, "scheduler.py")}", line 512, in {phase}\n'
            "    raise\n"
            f"{kind}: {message}\n")


def failure(phase, switch):
    """(type, message) of an exit switch: its own text, its id's, or the phase's usual one."""
    if switch.get("text"):
        return "RuntimeError", switch["text"]
    return CATALOGUE[switch.get("id") or BY_PHASE.get(phase, "M4")]
