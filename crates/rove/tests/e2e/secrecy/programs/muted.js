// Asks twice with the same question; the second time nothing is written to the terminal.
const fs = require("fs");
const readline = require("readline");
const { Writable } = require("stream");

let muted = false;
const output = new Writable({
  write(chunk, encoding, done) {
    if (!muted) process.stdout.write(chunk, encoding);
    done();
  },
});
const lines = readline.createInterface({ input: process.stdin, output, terminal: true });
lines.question("value: ", () => {
  lines.question("value: ", (secret) => {
    fs.writeFileSync(process.env.OUT, secret);
    lines.close();
  });
  muted = true;
});
