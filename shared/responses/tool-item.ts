import * as z from 'zod';
import { firstFault } from '../http/first-fault.ts';
import { Label } from '../http/label.ts';
import { Content, MAX_PARTS } from './content.ts';

const MAX_LOADED_TOOLS = 512;
const MAX_COMMAND_PARTS = 4_096;

const id = Label.nullish();
const callId = Label.min(1);

const CustomToolCallItem = z.looseObject({
  type: z.literal('custom_tool_call'),
  id,
  call_id: callId,
  name: Label.min(1),
  namespace: Label.nullish(),
  input: z.string(),
});

const CustomToolCallOutputItem = z.looseObject({ type: z.literal('custom_tool_call_output'), id, call_id: callId, output: Content });

// A search that a server ran has no call_id.
const ToolSearchCallItem = z.looseObject({
  type: z.literal('tool_search_call'),
  id,
  call_id: callId.nullish(),
  execution: Label.nullish(),
  arguments: z.unknown(),
});

// Each tool is parsed with those of the request.
const SentTools = firstFault(z.array(z.record(z.string(), z.unknown())).max(MAX_LOADED_TOOLS));

const ToolSearchOutputItem = z.looseObject({
  type: z.literal('tool_search_output'),
  id,
  call_id: callId.nullish(),
  execution: Label.nullish(),
  tools: SentTools,
});

// Codex sends the tools of most models here and not in `tools`.
const AdditionalToolsItem = z.looseObject({ type: z.literal('additional_tools'), id, role: Label.nullish(), tools: SentTools });

const LocalShellCallItem = z.looseObject({
  type: z.literal('local_shell_call'),
  id,
  call_id: callId.nullish(),
  action: z.looseObject({
    type: z.literal('exec'),
    command: firstFault(z.array(z.string()).max(MAX_COMMAND_PARTS)),
    working_directory: z.string().nullish(),
    timeout_ms: z.number().nullish(),
    env: z.record(z.string(), z.string()).nullish(),
    user: z.string().nullish(),
  }),
});

// OpenAI's own clients name the call by `id`.
const LocalShellCallOutputItem = z.looseObject({
  type: z.literal('local_shell_call_output'),
  id,
  call_id: callId.nullish(),
  output: Content,
});

const CompactionTriggerItem = z.looseObject({ type: z.literal('compaction_trigger'), id });

const CompactionItem = z.looseObject({
  type: z.enum(['compaction', 'compaction_summary', 'context_compaction']),
  id,
  encrypted_content: z.string().nullish(),
});

// A message between the agents of one client. No model here encrypts: such a part has the text that the model wrote.
const AgentMessageItem = z.looseObject({
  type: z.literal('agent_message'),
  id,
  author: Label,
  recipient: Label,
  content: firstFault(
    z
      .array(
        z.union([
          z.looseObject({ type: z.literal('input_text'), text: z.string() }),
          z.looseObject({ type: z.literal('encrypted_content'), encrypted_content: z.string() }),
        ]),
      )
      .max(MAX_PARTS),
  ),
});

// They have no effect on a model here, and are listed in `x-sluice-ignored`.
const ForeignItem = z.looseObject({
  type: z.enum([
    'web_search_call',
    'image_generation_call',
    'file_search_call',
    'code_interpreter_call',
    'mcp_call',
    'mcp_list_tools',
    'mcp_approval_request',
    'mcp_approval_response',
    'configuration_update',
  ]),
  id,
});

/** The items of clients with tools of their own, such as Codex. */
export const toolItems = [
  CustomToolCallItem,
  CustomToolCallOutputItem,
  ToolSearchCallItem,
  ToolSearchOutputItem,
  AdditionalToolsItem,
  LocalShellCallItem,
  LocalShellCallOutputItem,
  CompactionTriggerItem,
  CompactionItem,
  AgentMessageItem,
  ForeignItem,
] as const;

/** The types of items that are accepted without an effect. */
export const foreignItemTypes = ForeignItem.shape.type.options;
