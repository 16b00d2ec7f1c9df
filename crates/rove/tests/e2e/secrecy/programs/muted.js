// Asks the same question as many times as the first argument says. The second argument says what the last answer shows:
// nothing, or stars.
const fs = require("fs");
const readline = require("readline");
const { Writable } = require("stream");

let left = Number(process.argv[2]);
const stars = process.argv[3] === "stars";
let hidden = false;
const output = new Writable({
  write(chunk, encoding, done) {
    if (!hidden) process.stdout.write(chunk, encoding);
    else if (stars && /^[ -~]$/.test(chunk)) process.stdout.write("*");
    done();
  },
});
const lines = readline.createInterface({ input: process.stdin, output, terminal: true });
function ask() {
  left -= 1;
  lines.question("value: ", (answer) => {
    if (left > 0) return ask();
    fs.writeFileSync(process.env.OUT, answer);
    lines.close();
  });
  hidden = left === 0;
}
ask();
