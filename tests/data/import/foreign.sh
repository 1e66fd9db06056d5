#!/bin/bash
# A profile as another tool keeps it.
set -euo pipefail
source ./common.sh

NAME=kimi-k3
NODE_IPS=(174.1.60.5 174.1.60.6 \
          "174.1.60.7" 174.1.60.8)   # rank order
SSH_USER=root
MASTER=174.1.60.5
export DIST_PORT=20000
IMAGE="lmsysorg/sglang:kimi-k3"
DATA=${DATA_ROOT:-/data}
MODEL_PATH="$DATA/hf_models/Kimi-K3"
SERVED_MODEL_NAME='kimi-k3'
API_KEY=sk-12345-not-shown
UNUSED=1

DOCKER_ARGS="--network host --ipc=host --shm-size 32g --gpus all --privileged --ulimit memlock=-1 --ulimit stack=67108864 \
  -v ${DATA}/cache:/root/.cache -v $DATA/models:/models:ro -e NCCL_DEBUG=WARN -e HF_TOKEN --user 1000 --rm -d --mystery=x --log-opt max-size=100m"
DOCKER_ARGS+=" -v/etc/hosts:/etc/hosts:ro --mount type=bind,src=/a,dst=/b,readonly"

export NCCL_SOCKET_IFNAME=bond1 GLOO_SOCKET_IFNAME=bond1
export NCCL_IB_HCA=mlx5_0,mlx5_1
WHEN=$(date +%s)

COMMON=( --tp-size 32 --ep-size 32 )
SERVER_ARGS=(
  --model-path "$MODEL_PATH"
  --host 0.0.0.0 --port 30000
  --nnodes 4 --node-rank $RANK
  --dist-init-addr $MASTER:20000
  "${COMMON[@]}"
  --trust-remote-code
)
EXTRA_ARGS="--port 30000 --dist-init-addr $MASTER:20000 ${COMMON[@]} --json '{\"a\": \"b c\"}' --api-key sk-12345-not-shown"

BOOTSTRAP='python3 /tmp/patch.py && pip install "x y"'

if [ -n "$DEBUG" ]; then
  NCCL_DEBUG=INFO
fi
start() {
  docker run $DOCKER_ARGS
}
