import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

// A pass-through proxy in a separate process: no gateway in Node can do less. Argument: the server's URL.
const target = new URL(process.argv[2] ?? '');
const agent = new Agent({ keepAlive: true });

const server = createServer((incoming, outgoing) => {
  const { url, method, headers } = incoming;
  const upstream = request({ hostname: target.hostname, port: target.port, path: url, method, headers, agent }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  upstream.once('error', () => outgoing.destroy());
  outgoing.once('close', () => upstream.destroy());
  incoming.pipe(upstream);
});

process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
