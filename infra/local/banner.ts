import { CONSOLE_PATHS } from '../../shared/hosts/console-paths.ts';
import { inferenceHostRoutes } from '../../shared/hosts/inference-routes.ts';
import { servicePaths } from '../../shared/hosts/service-routes.ts';
import type { Demo } from './demo-file.ts';
import type { Hosts } from './lambda/environment-variables.ts';

const PURPOSES: Readonly<Record<keyof Hosts, [name: string, purpose: string]>> = {
  serverless: ['Serverless', 'shared models, for anyone with an API key'],
  ondemand: ['On-demand', 'the own deployments of an organization'],
  control: ['Control plane', 'organizations, users, API keys, models, prices and credit'],
};
const NAME_COLUMNS = 15;
const URL_COLUMNS = 24;

const row = (name: string, value: string): string => `  ${name.padEnd(NAME_COLUMNS)}${value}`;

interface Addresses {
  hosts: Hosts;
  panelUrl: string;
}

/**
 * The text that `npm start` prints when everything is ready. Scripts wait for its line that begins with `curl -N`.
 * @param containerUrl the model server, if it is not the local run's own model
 */
export const banner = ({ hosts, panelUrl }: Addresses, demo: Demo, containerUrl?: string): string => {
  const { model } = demo;
  const messages = [{ role: 'user', content: 'Tell me about rivers.' }];
  const urls = Object.entries(PURPOSES).flatMap(([host, [name, purpose]]) => {
    const url = hosts[host as keyof Hosts];
    return url === null ? [] : [row(name, `${url.padEnd(URL_COLUMNS)}${purpose}`), row('', url + servicePaths.reference)];
  });
  const modelFact =
    containerUrl === undefined
      ? `The model ${model} is a toy, whose answers make little sense. Use a real one with --container URL.`
      : `The model ${model} is served by ${containerUrl}.`;
  return `
Sluice is running. Press Ctrl-C to stop it.

${urls.join('\n')}

${hosts.control === null ? '' : `${row('Console', `${hosts.control}${CONSOLE_PATHS.page}/`)}\n`}${row('API key', demo.api_key)}${hosts.ondemand === null ? '' : `\n${row('On-demand key', demo.ondemand_api_key)}`}
${row('Admin login', `${demo.admin_email}  ${demo.admin_password}`)}

To try it, paste one of these into a second terminal, in this folder.

curl -N ${hosts.serverless}${inferenceHostRoutes.createChatCompletion.path} \\
  -H 'authorization: Bearer ${demo.api_key}' -H 'content-type: application/json' \\
  -d '${JSON.stringify({ model, stream: true, messages })}'

# After: pip install openai
python3 - <<'EOF'
from openai import OpenAI
client = OpenAI(base_url="${hosts.serverless}/v1", api_key="${demo.api_key}")
reply = client.chat.completions.create(model="${model}", messages=${JSON.stringify(messages)})
print(reply.choices[0].message.content)
EOF

node --input-type=module - <<'EOF'
import OpenAI from 'openai';
const client = new OpenAI({ baseURL: '${hosts.serverless}/v1', apiKey: '${demo.api_key}' });
const reply = await client.chat.completions.create({ model: '${model}', messages: ${JSON.stringify(messages)} });
console.log(reply.choices[0].message.content);
EOF

${modelFact}
Move the local clock, for example to see the first invoice: ${panelUrl}
Read next: docs/api.md has an example of each route, and docs/control-plane.md is a tour of the control plane.
`;
};
