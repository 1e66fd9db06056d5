"""How the stand-in plays the engine; sglang.launch_server is its front."""
