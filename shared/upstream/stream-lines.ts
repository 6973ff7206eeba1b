/** Splits text that comes in parts into lines, which end in `\n` or `\r\n`. */
export interface StreamLines<Sink> {
  /** Takes the lines that end in this part, without their ends. */
  split: (text: string, sink: Sink) => void;
  /** The number of characters of the line that has not ended. */
  pendingCharacters: () => number;
  /** Ends the last line. Returns it without the white space at its end. */
  end: () => string;
}

/** @param takeLine gets each line, and the `sink` of the part in which it ends */
export const createStreamLines = <Sink>(takeLine: (line: string, sink: Sink) => void): StreamLines<Sink> => {
  // They are joined only at the end of their line, because a line can come in thousands of parts.
  let parts: string[] = [];
  let characters = 0;
  return {
    split: (text, sink) => {
      let start = 0;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
        const last = text.slice(start, end);
        const line = parts.length > 0 ? parts.join('') + last : last;
        if (parts.length > 0) parts = [];
        characters = 0;
        start = end + 1;
        takeLine(line.endsWith('\r') ? line.slice(0, -1) : line, sink);
      }
      if (start === text.length) return;
      parts.push(start === 0 ? text : text.slice(start));
      characters += text.length - start;
    },
    pendingCharacters: () => characters,
    end: () => {
      const line = parts.join('').trimEnd();
      parts = [];
      characters = 0;
      return line;
    },
  };
};
