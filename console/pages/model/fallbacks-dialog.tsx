import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import { TextArea } from '../../design/controls/fields.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { VersionedForm } from '../../design/forms/versioned-form.tsx';
import type { Model } from './model-facts.tsx';
import { modelQuery, parametersOf } from './model-query.ts';

const draftOf = ({ fallbacks }: Model) => ({ fallbacks: fallbacks.join('\n') });

const LABELS = { fallbacks: 'Fallbacks' } as const;

const namesIn = (text: string): string[] => text.split(/\s+/).filter((name) => name !== '');

/** Sets the models that answer in place of a model. */
export const FallbacksDialog = ({ model, onClose }: { model: Model; onClose: () => void }) => (
  <Dialog title={`Edit fallbacks of ${model.name}`} onClose={onClose}>
    <p>
      Sluice tries these models in order when the model has no capacity, isn't ready, fails or is too slow. Callers pay the price of the
      model that answers, and see its name.
    </p>
    <VersionedForm
      thing={model}
      draftOf={draftOf}
      labels={LABELS}
      read={() => request('GET /v1/models/{model+}', { parameters: parametersOf(model), query: modelQuery(model) })}
      save={async ({ fallbacks }, { version }) => {
        await request('PATCH /v1/models/{model+}', {
          parameters: parametersOf(model),
          query: modelQuery(model),
          body: { fallbacks: namesIn(fallbacks) },
          version,
        });
        await readAgain('/v1/models');
        onClose();
      }}
      submitLabel="Save fallbacks"
      onCancel={onClose}
    >
      {({ fallbacks }, change) => (
        <TextArea
          label={LABELS.fallbacks}
          hint="Up to 3 model names, one per line. Leave empty for no fallbacks."
          rows={3}
          value={fallbacks}
          onChange={(value) => change({ fallbacks: value })}
        />
      )}
    </VersionedForm>
  </Dialog>
);
