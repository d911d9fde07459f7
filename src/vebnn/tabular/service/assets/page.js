// What the pages of tables and of sequences share.
const find = (id) => document.getElementById(id);
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const draw = (tag, attributes, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
};
const short = (value, digits = 4) => Number(value.toPrecision(digits)).toLocaleString("en", { maximumSignificantDigits: digits });

// A service with --api-key-file refuses the first request: ask for the key, and send it from then on.
let key = "";
const request = async (path, options = {}) => {
  const headers = { ...options.headers, ...(key && { Authorization: "Bearer " + key }) };
  const answer = await fetch(path, { ...options, headers });
  if (answer.status !== 401) return answer;
  key = prompt("API key");
  if (!key) throw new Error("An API key is needed. Reload the page to enter one.");
  return request(path, options);
};

// A swatch of a colour, with its meaning.
const part = (colour, words) => {
  const key = make("span", { className: "key" });
  key.style.background = `var(${colour})`;
  return make("span", {}, key, words);
};
