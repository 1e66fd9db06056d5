// The program: argv -> exit code.
#pragma once

namespace sskj::app {

int run(int argc, const char* const* argv);

}  // namespace sskj::app
