/** A trie of the tokens' bytes. `tokens` end at this node; `children` have one more byte. */
export interface TrieNode {
  byte: number;
  tokens: number[];
  children: TrieNode[];
}

/** Creates a trie of the vocabulary, without the tokens that have no bytes. */
export const createTokenTrie = (vocabularySize: number, spelling: (id: number) => Uint8Array): TrieNode => {
  const root: TrieNode = { byte: -1, tokens: [], children: [] };
  for (let id = 0; id < vocabularySize; id++) {
    const bytes = spelling(id);
    if (bytes.length > 0) insert(root, bytes, id);
  }
  return root;
};

const insert = (root: TrieNode, bytes: Uint8Array, id: number): void => {
  let node = root;
  for (const byte of bytes) {
    let child = node.children.find((candidate) => candidate.byte === byte);
    if (!child) {
      child = { byte, tokens: [], children: [] };
      node.children.push(child);
    }
    node = child;
  }
  node.tokens.push(id);
};

/**
 * Visits every token that an acceptor accepts in a state, with the state after it. It checks a common prefix only
 * once.
 */
export const visitTokens = <State>(
  node: TrieNode,
  state: State,
  next: (state: State, byte: number) => State | null,
  visit: (token: number, after: State) => void,
): void => {
  for (const child of node.children) {
    const after = next(state, child.byte);
    if (after === null) continue;
    for (const token of child.tokens) visit(token, after);
    visitTokens(child, after, next, visit);
  }
};
