"""Process titles as SGLang's setproctitle sets them: seen in ps, in /proc/PID/cmdline and (15 bytes of it) in comm."""
import ctypes


def set_title(title):
    data = title.encode()
    try:
        libc = ctypes.CDLL(None)
        libc.prctl(15, ctypes.c_char_p(data), 0, 0, 0)  # PR_SET_NAME
        with open("/proc/self/stat", "rb") as f:
            fields = f.read().rpartition(b")")[2].split()
        start, end = int(fields[45]), int(fields[46])  # arg_start, arg_end
        if 0 < start < end:
            room = end - start
            ctypes.memset(start, 0, room)
            ctypes.memmove(start, data[:room - 1], min(len(data), room - 1))
    except (OSError, IndexError, ValueError):
        pass  # a title is a convenience of the one who looks
