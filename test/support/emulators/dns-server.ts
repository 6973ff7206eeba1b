import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';

const TYPES = { 4: 1, 6: 28 } as const;
const HEADER_BYTES = 12;
// Flags of a reply to a recursive question.
const ANSWERED = 0x8180;
const NO_SUCH_NAME = 3;
const SECONDS_TO_LIVE = 0;

const bytesOf = (address: string): number[] => {
  if (isIP(address) === 4) return address.split('.').map(Number);
  const [head = '', tail] = address.split('::');
  const wordsOf = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [first, last] = [wordsOf(head), wordsOf(tail ?? '')];
  const words = [...first, ...Array<string>(tail === undefined ? 0 : 8 - first.length - last.length).fill('0'), ...last];
  return words.flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 255]);
};

const readQuestion = (message: Buffer): { name: string; type: number; end: number } => {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('ascii', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 };
};

const TXT = 16;

const record = (type: number, data: Buffer): Buffer =>
  // The name is the one of the question, at byte 12.
  Buffer.concat([Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, SECONDS_TO_LIVE, 0, data.length]), data]);

const addressRecord = (address: string): Buffer => record(TYPES[isIP(address) as 4 | 6], Buffer.from(bytesOf(address)));

const textRecord = (text: string): Buffer => record(TXT, Buffer.from([text.length, ...Buffer.from(text, 'ascii')]));

/**
 * A DNS server (RFC 1035) with the records of a test.
 * @param valuesOf called for each question: the addresses of a name, or its texts, which are shorter than 250
 *   characters; undefined: there is no such name
 */
export const startDns = async (valuesOf: (name: string) => readonly string[] | undefined) => {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (message, { port, address }) => {
    const { name, type, end } = readQuestion(message);
    asked.push(name);
    const values = valuesOf(name);
    const addresses = (values ?? []).filter((each) => TYPES[isIP(each) as 4 | 6] === type);
    const records = type === TXT ? (values ?? []).map(textRecord) : addresses.map(addressRecord);
    const header = Buffer.from(message.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(ANSWERED + (values ? 0 : NO_SUCH_NAME), 2);
    header.writeUInt16BE(records.length, 6);
    header.fill(0, 8);
    socket.send(Buffer.concat([header, message.subarray(HEADER_BYTES, end), ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    server: `127.0.0.1:${socket.address().port}`,
    /** The names of all questions: one for IPv4 and one for IPv6 at a time. */
    asked,
    close: async (): Promise<void> => {
      socket.close();
      await once(socket, 'close');
    },
  };
};
