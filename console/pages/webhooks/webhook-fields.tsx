import { CheckField, CheckGroup, TextField } from '../../design/controls/fields.tsx';
import { Stack } from '../../design/layout/layout.tsx';
import { EVENT_GROUPS, eventTypesIn, withType, wordsOfType } from './event-types.ts';
import { WEBHOOK_LABELS, type WebhookDraft } from './webhook-draft.ts';

interface WebhookFieldsProps {
  draft: WebhookDraft;
  onChange: (changes: Partial<WebhookDraft>) => void;
}

/** The fields of a webhook, new or changed. */
export const WebhookFields = ({ draft, onChange }: WebhookFieldsProps) => {
  const chosen = new Set<string>(eventTypesIn(draft.types));
  return (
    <Stack>
      <TextField
        label={WEBHOOK_LABELS.url}
        type="url"
        placeholder="https://example.com/webhooks"
        value={draft.url}
        onChange={(url) => onChange({ url })}
        isCode
        autoComplete="off"
      />
      <TextField
        label={WEBHOOK_LABELS.description}
        value={draft.description}
        onChange={(description) => onChange({ description })}
        maxLength={200}
        autoComplete="off"
      />
      <CheckField label={WEBHOOK_LABELS.isAll} checked={draft.isAll} onChange={(isAll) => onChange({ isAll })} />
      {!draft.isAll &&
        [...EVENT_GROUPS].map(([group, types]) => (
          <CheckGroup key={group} label={group}>
            {types.map((type) => (
              <CheckField
                key={type}
                label={wordsOfType(type)}
                checked={chosen.has(type)}
                onChange={(isChosen) => onChange({ types: withType(draft.types, type, isChosen) })}
              />
            ))}
          </CheckGroup>
        ))}
    </Stack>
  );
};
