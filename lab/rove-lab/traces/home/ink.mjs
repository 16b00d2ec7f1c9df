// A prompt under a conversation, drawn by Ink: `npm install --global ink@5 ink-text-input@6 react@18`.
const folder = process.env.NODE_MODULES;
const { Box, Static, Text, render, useApp, useInput } = await import(`${folder}/ink/build/index.js`);
const { default: TextInput } = await import(`${folder}/ink-text-input/build/index.js`);
const { default: React } = await import(`${folder}/react/index.js`);
const { createElement: element, useState } = React;

function App() {
  const [said, setSaid] = useState([]);
  const [text, setText] = useState("");
  const { exit } = useApp();
  useInput((letter, key) => { if (key.ctrl && letter === "d") exit(); });
  const submit = (line) => { setSaid([...said, `> ${line}`, `  ${line.split(" ").length} words`]); setText(""); };
  return element(Box, { flexDirection: "column" },
    element(Static, { items: said }, (line, number) => element(Text, { key: number, dimColor: true }, line)),
    element(Box, { borderStyle: "round", paddingX: 1 },
      element(Text, null, "> "),
      element(TextInput, { value: text, onChange: setText, onSubmit: submit, placeholder: "Ask something" })),
    element(Text, { dimColor: true }, `  ${text.length} characters`));
}

render(element(App));
