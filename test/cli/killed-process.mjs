// A program that ends as one does whose driver crashes: without a word.
process.kill(process.pid, "SIGKILL");
