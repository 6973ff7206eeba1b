import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { Button, ButtonLink } from '../../design/controls/button.tsx';
import { Code } from '../../design/controls/copy.tsx';
import { Time } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Section, Stack } from '../../design/layout/layout.tsx';

type Payload = ReplyBody<'GET /v1/observability/requests/{id}/payload'>;

const textOf = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content, null, 2));

const redactedText = (redactions: Payload['redactions']): string =>
  Object.entries(redactions)
    .map(([kind, count]) => `${kind.replaceAll('_', ' ')}: ${count}`)
    .join(', ');

const Content = ({ id }: { id: string }) => (
  <Loaded query={useRead('GET /v1/observability/requests/{id}/payload', { parameters: { id } })}>
    {({ request, response, redactions, expires_at }) => (
      <Stack>
        <p>
          Expires <Time seconds={expires_at} />. {Object.keys(redactions).length > 0 && `Redacted: ${redactedText(redactions)}.`}
        </p>
        {(request.is_truncated || response.is_truncated) && (
          <Notice tone="warn">Part of the content was left out because it was too large.</Notice>
        )}
        <Code label="Content of the request" variants={[['Request', textOf(request.content)]]} />
        <Code label="Content of the response" variants={[['Response', textOf(response.content)]]} />
      </Stack>
    )}
  </Loaded>
);

/**
 * The logged content of a request, for those who can read it. It is read only when they ask, because reads are audited.
 */
export const RequestPayload = ({ id, isLogged }: { id: string; isLogged: boolean }) => {
  const me = useSignedIn();
  const [isShown, setShown] = useState(false);
  if (!can(me, 'payloads:read')) return null;
  return (
    <Section title="Content" isCard>
      {!isLogged && (
        <>
          <p>The content of this request was not logged.</p>
          <ButtonLink to="/payload-log">Open the payload log settings</ButtonLink>
        </>
      )}
      {isLogged && !isShown && (
        <>
          <p>The content was logged after redaction. The audit log records each time that someone reads it.</p>
          <Button onClick={() => setShown(true)}>Show content</Button>
        </>
      )}
      {isLogged && isShown && <Content id={id} />}
    </Section>
  );
};
