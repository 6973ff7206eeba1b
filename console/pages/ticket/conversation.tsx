import { useEffect } from 'react';
import { isOfPlatform, type Me, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { CopyText } from '../../design/controls/copy.tsx';
import { Message, Thread } from '../../design/data/thread.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { DownloadButton } from '../../design/forms/download-button.tsx';
import { Row, Stack } from '../../design/layout/layout.tsx';
import type { Ticket } from '../tickets/ticket-words.ts';
import { formatBytes } from './file-types.ts';

type TicketMessage = ReplyBody<'GET /v1/tickets/{id}/messages'>['data'][number];
type Attachment = TicketMessage['attachments'][number];

const AT_ONCE = 100;
// For each page, so that a long ticket is not read more often than a short one.
const POLL_MS = 10_000;

// The customer's own users don't think of themselves as customers.
const sideOf = (side: TicketMessage['author']['side'], me: Me): string =>
  side === 'support' ? 'Support' : isOfPlatform(me) ? 'Customer' : 'Colleague';

/** Names the author of a message or a change. */
export const Author = ({ author: { side, user }, me }: { author: TicketMessage['author']; me: Me }) => {
  if (user === me.id) return 'You';
  if (user === null) return sideOf(side, me);
  return (
    <>
      {sideOf(side, me)} <CopyText text={user} />
    </>
  );
};

const File = ({ ticket, file: { id, name, content_type, bytes } }: { ticket: string; file: Attachment }) => (
  <Row>
    <span>
      {name} ({content_type}, {formatBytes(bytes)})
    </span>
    <DownloadButton
      label="Download"
      name={`Download ${name}`}
      read={() => request('GET /v1/tickets/{id}/attachments/{attachment}', { parameters: { id: ticket, attachment: id } })}
    />
  </Row>
);

const kindOf = ({ visibility, author }: TicketMessage, me: Me) =>
  visibility === 'internal' ? 'internal' : author.user === me.id ? 'own' : 'other';

const Messages = ({ ticket, messages }: { ticket: string; messages: readonly TicketMessage[] }) => {
  const me = useSignedIn();
  return (
    <Thread label="Messages">
      {messages.map((message) => (
        <Message
          key={message.id}
          author={<Author author={message.author} me={me} />}
          seconds={message.created_at}
          kind={kindOf(message, me)}
          body={message.body}
        >
          {message.attachments.length > 0 && (
            <Stack>
              {message.attachments.map((file) => (
                <File key={file.id} ticket={ticket} file={file} />
              ))}
              <small>Sluice doesn't scan attachments. Open a file only if you trust the sender.</small>
            </Stack>
          )}
        </Message>
      ))}
    </Thread>
  );
};

/** All messages of a ticket, the oldest first. New ones appear by themselves. */
export const Conversation = ({ ticket: { id, message_count } }: { ticket: Ticket }) => {
  const messages = useList(
    'GET /v1/tickets/{id}/messages',
    { parameters: { id }, query: { limit: AT_ONCE } },
    { refetchMs: POLL_MS * Math.max(1, Math.ceil(message_count / AT_ONCE)) },
  );
  const { hasNextPage, isFetching, fetchNextPage } = messages;
  // A ticket has at most 1,000 messages.
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  return <Loaded query={messages}>{(pages) => <Messages ticket={id} messages={pages.flatMap(({ data }) => data)} />}</Loaded>;
};
