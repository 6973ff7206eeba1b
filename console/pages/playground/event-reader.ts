/** The most characters of an event, so that a stream without line breaks doesn't fill the memory. */
export const MAX_EVENT_CHARACTERS = 1_000_000;

const LINE_END = /\r\n|\n|\r/g;
const DATA = /^data(?:: ?(.*))?$/s;

/**
 * Reads the data of server-sent events from a stream's text, which can be cut anywhere. Comments and other fields are
 * skipped, and an event without its empty line at the end is none: https://html.spec.whatwg.org/#parsing-an-event-
 * stream
 */
export const createEventReader = () => {
  let rest = '';
  let data: string[] = [];
  let size = 0;

  const takeLine = (line: string): string[] => {
    if (line === '') {
      const event = data;
      data = [];
      size = 0;
      return event.length === 0 ? [] : [event.join('\n')];
    }
    const found = DATA.exec(line);
    if (!found) return [];
    const [, text = ''] = found;
    data.push(text);
    size += text.length;
    return [];
  };

  return {
    /** The data of the events that a part of the text completes. @throws RangeError for an event that is too long */
    read: (text: string): string[] => {
      rest += text;
      const events: string[] = [];
      let start = 0;
      for (const { 0: end, index } of rest.matchAll(LINE_END)) {
        // The line feed that belongs to it can be in the next part.
        if (end === '\r' && index === rest.length - 1) break;
        events.push(...takeLine(rest.slice(start, index)));
        start = index + end.length;
      }
      rest = rest.slice(start);
      if (rest.length + size > MAX_EVENT_CHARACTERS) throw new RangeError('An event of the stream is too long.');
      return events;
    },
  };
};
