import dns from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

// For `node --import`: ends the process at its first use of the network, before a library can catch an error and go on
// without.
const DENIED_EXIT_CODE = 87;

const deny = (use) => () => {
  process.stderr.write(`The network is denied, but this program used ${use}.\n${new Error().stack}\n`);
  process.exit(DENIED_EXIT_CODE);
};

net.Socket.prototype.connect = deny('net.Socket.connect');
for (const name of ['lookup', 'resolve']) dns[name] = deny(`dns.${name}`);
for (const name of ['lookup', 'resolve']) dns.promises[name] = deny(`dns.promises.${name}`);
for (const module of [http, https]) for (const name of ['request', 'get']) module[name] = deny(`an HTTP ${name}`);
globalThis.fetch = deny('fetch');
syncBuiltinESMExports();
