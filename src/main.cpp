#include "sskj/app/app.hpp"

int main(int argc, char** argv) { return sskj::app::run(argc, argv); }
