import { createInterface } from 'node:readline';

// An MCP server on standard input and output, for tests of coding agents: one tool, `get_tide`.

interface Message {
  id?: number | string;
  method: string;
  params: { protocolVersion?: string; arguments?: { harbour: string } };
}

const tool = {
  name: 'get_tide',
  description: 'The tide in a harbour.',
  inputSchema: { type: 'object', properties: { harbour: { type: 'string' } }, required: ['harbour'] },
};

const resultOf = ({ method, params }: Message): object | undefined => {
  switch (method) {
    case 'initialize':
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'tides', version: '1' } };
    case 'tools/list':
      return { tools: [tool] };
    case 'tools/call':
      return { content: [{ type: 'text', text: `High tide in ${params.arguments?.harbour}.` }] };
    default:
      return undefined;
  }
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as Message;
  if (message.id === undefined) return;
  const result = resultOf(message);
  const reply = result ? { result } : { error: { code: -32_601, message: 'There is no such method.' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...reply })}\n`);
});
