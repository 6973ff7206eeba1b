import * as z from 'zod';
import { firstFault } from '../../../shared/http/first-fault.ts';
import { Label } from '../../../shared/http/label.ts';

const MAX_BLOCKS = 4_096;
const MAX_TYPE_CHARACTERS = 64;

const typeOf = (block: unknown): string | undefined => {
  const type = typeof block === 'object' && block !== null && 'type' in block ? block.type : undefined;
  return typeof type === 'string' ? type.slice(0, MAX_TYPE_CHARACTERS) : undefined;
};

// Blocks that change the meaning of a message, so they are not dropped.
const UNSUPPORTED: Readonly<Record<string, string>> = {
  image: 'images are not supported: send text instead',
  container_upload: 'uploads to a container are not supported: send the text of the file instead',
};

const otherThan =
  (types: string) =>
  ({ input }: { input?: unknown }): string => {
    const type = typeOf(input);
    return UNSUPPORTED[type ?? ''] ?? `expected a block of type ${types}${type === undefined ? '' : `, got '${type}'`}`;
  };

// A string is the same as one block of text.
const orText = <Block extends z.ZodType>(block: Block) =>
  z
    .preprocess(
      (content) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content),
      firstFault(
        z
          .array(block, { error: ({ code }) => (code === 'invalid_type' ? 'expected a string or an array of blocks' : undefined) })
          .max(MAX_BLOCKS),
      ),
    )
    .meta({ type: ['string', 'array'] });

const Text = z.looseObject({ type: z.literal('text'), text: z.string() });
const OnlyText = z.discriminatedUnion('type', [Text], { error: otherThan("'text'") });

const DocumentSource = z.discriminatedUnion(
  'type',
  [z.looseObject({ type: z.literal('text'), data: z.string() }), z.looseObject({ type: z.literal('content'), content: orText(OnlyText) })],
  { error: "expected a source of type 'text' or 'content': PDFs, URLs and files are not supported" },
);

const Document = z.looseObject({
  type: z.literal('document'),
  source: DocumentSource,
  title: z.string().nullish(),
  context: z.string().nullish(),
});

const SearchResult = z.looseObject({
  type: z.literal('search_result'),
  title: z.string(),
  source: z.string(),
  content: orText(OnlyText),
});

const ToolReference = z.looseObject({ type: z.literal('tool_reference'), tool_name: Label });

const ResultBlock = z.discriminatedUnion('type', [Text, Document, SearchResult, ToolReference], {
  error: otherThan("'text', 'document', 'search_result' or 'tool_reference'"),
});

const ToolResult = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: Label.min(1),
  content: orText(ResultBlock).nullish(),
  is_error: z.boolean().nullish(),
});
export type ToolResult = z.output<typeof ToolResult>;

const UserBlock = z.discriminatedUnion('type', [Text, Document, SearchResult, ToolResult], {
  error: otherThan("'text', 'document', 'search_result' or 'tool_result'"),
});

const Thinking = z.looseObject({ type: z.literal('thinking'), thinking: z.string() });

// A client sends an input back that didn't fit the tool's schema, in whatever form it has kept it.
const ToolUse = z.looseObject({ type: z.literal('tool_use'), id: Label.min(1), name: Label.min(1), input: z.unknown().optional() });
export type ToolUse = z.output<typeof ToolUse>;

/** Blocks of an assistant's turn that only their own service can read; they are accepted and have no effect. */
export const droppedBlocks = [
  'redacted_thinking',
  'server_tool_use',
  'mcp_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'mcp_tool_result',
  'advisor_tool_result',
] as const;

const AssistantBlock = z.discriminatedUnion('type', [Text, Thinking, ToolUse, z.looseObject({ type: z.enum(droppedBlocks) })], {
  error: otherThan("'text', 'thinking' or 'tool_use'"),
});

/** A block of text that a user's turn or a tool's result can have. */
export type TextualBlock = z.output<typeof ResultBlock>;

/** The content of a system message, and the top-level `system`. */
export const SystemContent = orText(OnlyText);
export type SystemContent = z.output<typeof SystemContent>;

const MAX_MESSAGES = 4_096;

const TurnMessage = z.discriminatedUnion(
  'role',
  [
    z.looseObject({ role: z.literal('user'), content: orText(UserBlock) }),
    z.looseObject({ role: z.literal('assistant'), content: orText(AssistantBlock) }),
    z.looseObject({ role: z.literal('system'), content: SystemContent }),
  ],
  { error: "expected a message with the role 'user', 'assistant' or 'system'" },
);
export type TurnMessage = z.output<typeof TurnMessage>;

/** The conversation (https://platform.claude.com/docs/en/api/messages). Strings become blocks of text. */
export const TurnMessages = firstFault(z.array(TurnMessage).min(1, 'expected at least one message').max(MAX_MESSAGES));
