// Phases and fatal signatures of an engine's start, as data (reference: SGLang 0.5.16-0.5.18 and the K3 branch; ids are those of the error catalogue).
//
// Only what certainly ends a start is fatal here; consequences ("Received sigquit", NCCL errors of ranks whose peer died) are left out, because the first rank to fail
// is the cause and the others merely follow. A rank that dies for a reason not listed fails the start by its exit.
#include <array>

#include "sskj/recipes/drivers.hpp"

namespace sskj::recipes {

std::span<const Signature> signatures() {
  static constexpr std::array rows{
      // --- fatal: memory and device
      Signature{"M1", R"(Not enough GPU memory for hybrid \(mamba/linear-attention\) state cache)", "", "no GPU memory left for the linear-attention state: a GPU is in use, or too many running requests are allowed",
                "check that all GPUs are free (sskj preflight); lower --max-running-requests or raise --mem-fraction-static"},
      Signature{"M2", R"(Not enough memory\. Please try to increase --mem-fraction-static)", "", "weights leave no memory for the KV cache", "raise --mem-fraction-static in launch_args"},
      Signature{"M3", R"(The memory capacity is unbalanced)", "", "some GPUs hold memory of another process", "free the GPUs on this node: sskj preflight names the holder"},
      Signature{"M9", R"((?i)ptxas.*tcgen05|Feature .* requires .?\.target|tcgen05.*(not supported|illegal))", "", "a kernel for data-centre Blackwell was chosen on sm_120: the patch is not applied",
                "check the patch artifact and BOOTSTRAP of the profile"},
      Signature{"M8", R"(no kernel image is available for execution on the device)", "", "the image has no kernels for this GPU (sm_120)", "use the image and the patch that the profile names"},
      Signature{"M4", R"(torch\.(cuda\.)?OutOfMemoryError|CUDA out of memory)", "", "a GPU ran out of memory while starting", "lower --mem-fraction-static, --chunked-prefill-size or the graph batch size"},
      Signature{"M5", R"(Capture (cuda graph|prefill CUDA graph) failed)", "", "CUDA graphs could not be captured", "read the lines before it; lower --mem-fraction-static or the graph batch size"},
      Signature{"M7", R"(scheduler died during initialization \(exit code: -9\))", "", "the kernel killed a scheduler for lack of host memory", "check host RAM and shm size on this node"},
      Signature{"M12", R"(CUDA driver version is insufficient for CUDA runtime version)", "", "the host's driver is too old for the image", "upgrade the driver on this node"},
      Signature{"M14", R"(Failed to initialize NVML: (Driver/library version mismatch|Unknown Error))", "", "driver and library differ: upgraded without a reboot", "reboot this node"},
      // --- fatal: files and arguments
      Signature{"F1", R"(Model architectures \[.*\] are not supported for now)", "", "the image does not know this model architecture", "use the image that the profile names"},
      Signature{"F2", R"(but Transformers does not recognize this architecture)", "", "the image does not know this model type", "use the image that the profile names; add --trust-remote-code"},
      Signature{"F3", R"(Cannot find any model weights with)", "", "the model directory is empty or wrong", "check model_path and its mount on this node"},
      Signature{"F4", R"(references \d+ shard file\(s\) missing from)", "", "shards that the index names are missing", "copy the missing shards: sskj preflight names them"},
      Signature{"F5", R"(SafetensorError: Error while deserializing header|(MetadataIncompleteBuffer|HeaderTooLarge|HeaderTooSmall|InvalidHeaderDeserialization))", "",
                "a shard is truncated or damaged", "copy that shard again: sskj preflight names it"},
      Signature{"F6", R"(Failed to load the tokenizer)", "", "the tokenizer cannot be loaded", "add --trust-remote-code; check the model directory"},
      Signature{"F7", R"(Repo id must be in the form|We couldn't connect to 'https://huggingface\.co')", "", "the model path is not visible in the container and was taken for a Hugging Face id",
                "check model_path and its mount"},
      Signature{"F8", R"((Stale file handle|Input/output error|Transport endpoint is not connected))", "", "the storage of this node fails", "look at dmesg and the mount on this node"},
      Signature{"F9", R"(tp_size must be divisible by number of nodes)", "", "tp size and number of nodes do not fit", "correct --tp-size or the nodes of the profile"},
      Signature{"F10", R"(error: (unrecognized arguments|argument .*: invalid choice))", "", "this image does not know an argument", "compare launch_args with the image's version"},
      // --- fatal: rendezvous and NCCL
      Signature{"N1", R"(NCCL error: invalid usage|no algorithm/protocol available for function)", "", "NCCL_ALGO or NCCL_PROTO leaves no variant for a collective", "remove NCCL_ALGO and NCCL_PROTO from the profile"},
      Signature{"N2", R"(Call to ibv_create_cq failed.*Cannot allocate memory|ibv_create_cq.*Cannot allocate memory)", "", "RDMA may not lock memory", "keep --ulimit memlock=-1 in the profile; check the docker daemon's own limit"},
      Signature{"N3", R"(DistStoreError: Timed out after \d+ seconds waiting for clients)", "", "a rank did not come to the rendezvous", "look at the ranks that are still in phase init, and at the data network between them and rank 0"},
      Signature{"N4", R"(Gloo connectFullMesh failed)", "", "Gloo chose an interface on which the ranks do not reach each other", "set nic (GLOO_SOCKET_IFNAME) in the profile; check /etc/hosts"},
      Signature{"N11", R"((dist_init_port|port_base|nccl_port|rpc_port) at \d+ is not available|EADDRINUSE|server socket has failed to listen)", "", "the rendezvous port is taken", "find who holds it: sskj preflight; ss -ltnp"},
      Signature{"N12", R"(\[Errno 98\].*address already in use)", "", "the API port is taken", "find who holds it: sskj preflight; remove SGLANG_PORT from the profile"},
      Signature{"N13", R"(TP rank \d+ could finish the model loading, but there are other ranks)", "", "one node loads its weights much slower than the others", "compare the nodes' disks; read the weights once before starting"},
      // --- phases
      Signature{"ready", R"(The server is fired up and ready to roll!)", "ready"},
      Signature{"warm-up", R"(Application startup complete\.|Uvicorn running on http|Start of pd disaggregation warmup)", "warm-up"},
      Signature{"graphs", R"(Capturing batches.*\b(\d+)/(\d+))", "graphs"},
      Signature{"graphs-begin", R"(Capture .*[cC][uU][dD][aA] graph begin|CUDA graph end|Capture cuda graph end|Running FlashInfer autotune)", "graphs"},
      Signature{"kv", R"(KV Cache is allocated|Memory pool end)", "kv"},
      Signature{"state-cache", R"(Mamba Cache is allocated)", "state-cache"},
      Signature{"weights", R"((?:Multi-thread loading shards|Loading safetensors checkpoint shards):.*\b(\d+)/(\d+))", "weights"},
      Signature{"weights-begin", R"(Load weight (begin|end))", "weights"},
      Signature{"rendezvous", R"(Init torch distributed (begin|ends))", "rendezvous"},
      Signature{"init", R"(server_args=ServerArgs\()", "init"},
  };
  return rows;
}

}  // namespace sskj::recipes
