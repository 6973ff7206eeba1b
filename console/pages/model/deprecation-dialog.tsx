import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { TextField } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { formatDay, utcSeconds } from '../../design/format/times.ts';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import type { Model } from './model-facts.tsx';
import { modelQuery, parametersOf } from './model-query.ts';

const draftOf = ({ deprecation }: Model) => ({
  from: formatDay(deprecation?.deprecated_at ?? Date.now() / 1_000),
  sunset: deprecation?.sunset_at ? formatDay(deprecation.sunset_at) : '',
  successor: deprecation?.successor ?? '',
});

const LABELS = { from: 'Deprecated from', sunset: 'Removal date', successor: 'Successor' } as const;

const deprecationOf = ({ from, sunset, successor }: ReturnType<typeof draftOf>) => {
  const sunset_at = utcSeconds(sunset);
  return {
    deprecated_at: utcSeconds(from) ?? 0,
    ...(sunset_at !== undefined && { sunset_at }),
    ...(successor !== '' && { successor }),
  };
};

/** Announces that a model will be removed. */
export const DeprecationDialog = ({ model, onClose }: { model: Model; onClose: () => void }) => (
  <Dialog title={`Deprecate ${model.name}`} onClose={onClose}>
    <p>The headers of each response and this page show the deprecation. Requests keep working until you unpublish the model.</p>
    <VersionedForm
      thing={model}
      draftOf={draftOf}
      labels={LABELS}
      read={() => request('GET /v1/models/{model+}', { parameters: parametersOf(model), query: modelQuery(model) })}
      save={async (draft, { version }) => {
        await request('PATCH /v1/models/{model+}', {
          parameters: parametersOf(model),
          query: modelQuery(model),
          body: { deprecation: deprecationOf(draft) },
          version,
        });
        await readAgain('/v1/models');
        onClose();
      }}
      submitLabel="Deprecate model"
      canSubmit={({ from }) => utcSeconds(from) !== undefined}
      onCancel={onClose}
    >
      {({ from, sunset, successor }, change) => (
        <>
          <TextField label={`${LABELS.from} (UTC)`} type="date" value={from} onChange={(value) => change({ from: value })} />
          <TextField
            label={`${LABELS.sunset} (UTC)`}
            hint="Leave empty if not decided."
            type="date"
            value={sunset}
            onChange={(value) => change({ sunset: value })}
          />
          <TextField
            label={LABELS.successor}
            hint="Optional. The model that callers should use instead."
            value={successor}
            onChange={(value) => change({ successor: value })}
          />
        </>
      )}
    </VersionedForm>
  </Dialog>
);
