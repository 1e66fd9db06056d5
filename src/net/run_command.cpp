#include <unistd.h>

#include <csignal>
#include <utility>

#include "sskj/net/process.hpp"

namespace sskj::net {

namespace {

struct Command : std::enable_shared_from_this<Command> {
  explicit Command(Loop& l) : loop(l) {}
  Loop& loop;
  std::unique_ptr<Process> process;
  CommandOutput output;
  std::function<void(Result<CommandOutput>)> done;
  std::string program;
  TimerId timer = 0;

  void finish(Result<CommandOutput> result) {
    const auto keep = shared_from_this();
    loop.cancel(timer);
    process.reset();
    if (auto call = std::exchange(done, nullptr)) {
      call(std::move(result));
    }
  }
};

class CommandOperation : public Operation {
 public:
  explicit CommandOperation(std::shared_ptr<Command> command) : command_(std::move(command)) {}
  ~CommandOperation() override {
    command_->done = nullptr;
    command_->loop.cancel(command_->timer);
    command_->process.reset();
  }

 private:
  std::shared_ptr<Command> command_;
};

void keep_output(CommandOutput& output, std::size_t max_output, int stream, std::string_view bytes) {
  auto& text = stream == 1 ? output.out : output.err;
  const std::size_t room = max_output - std::min(max_output, text.size());
  output.truncated = output.truncated || bytes.size() > room;
  text.append(bytes.substr(0, room));
}

}  // namespace

Handle run_command(Loop& loop, const ProcessSpec& spec, Millis deadline, std::size_t max_output, std::function<void(Result<CommandOutput>)> done) {
  auto command = std::make_shared<Command>(loop);
  command->done = std::move(done);
  command->program = spec.argv.empty() ? "" : spec.argv[0];
  ProcessHandlers handlers;
  // The process is owned by the command: plain pointers, no cycle.
  handlers.output = [c = command.get(), max_output](int stream, std::string_view bytes) { keep_output(c->output, max_output, stream, bytes); };
  handlers.exited = [c = command.get()](ExitStatus status) {
    c->output.status = status;
    c->finish(std::move(c->output));
  };
  auto process = Process::spawn(loop, spec, std::move(handlers));
  if (!process) {
    loop.post([command, error = process.error()] { command->finish(tl::unexpected<Error>(error)); });
  } else {
    command->process = std::move(*process);
    command->timer = loop.after(deadline, [c = command.get(), deadline] {
      c->finish(fail(Errc::timeout, c->program + " did not end within " + std::to_string(deadline.count()) + " ms"));
    });
  }
  return std::make_unique<CommandOperation>(std::move(command));
}

std::string find_program(std::string_view name, std::string_view path_variable) {
  if (name.find('/') != std::string_view::npos) {
    return std::string(name);
  }
  while (!path_variable.empty()) {
    const auto colon = path_variable.find(':');
    std::string candidate(path_variable.substr(0, colon));
    candidate += candidate.empty() ? "./" : "/";
    candidate += name;
    if (::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    if (colon == std::string_view::npos) {
      break;
    }
    path_variable.remove_prefix(colon + 1);
  }
  return {};
}

}  // namespace sskj::net
