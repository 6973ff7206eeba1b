import { type ReactNode, useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { RequestBody } from '../../client/routes.ts';
import { Button } from '../../design/controls/button.tsx';
import { Dialog } from '../../design/feedback/dialog.tsx';
import { Confirm } from '../../design/forms/confirm.tsx';
import { Form } from '../../design/forms/form.tsx';
import { Row } from '../../design/layout/layout.tsx';
import { DeprecationDialog } from './deprecation-dialog.tsx';
import { FallbacksDialog } from './fallbacks-dialog.tsx';
import type { Model } from './model-facts.tsx';
import { modelQuery, parametersOf } from './model-query.ts';
import { PriceDialog } from './price-dialog.tsx';

const change = async (model: Model, body: RequestBody<'PATCH /v1/models/{model+}'>): Promise<void> => {
  const { version } = model;
  await request('PATCH /v1/models/{model+}', { parameters: parametersOf(model), query: modelQuery(model), body, version });
  await readAgain('/v1/models', '/v1/pricing');
};

interface ChangeDialogProps {
  model: Model;
  title: string;
  action: string;
  body: RequestBody<'PATCH /v1/models/{model+}'>;
  onClose: () => void;
  children: ReactNode;
}

const ChangeDialog = ({ model, title, action, body, onClose, children }: ChangeDialogProps) => (
  <Dialog title={title} onClose={onClose}>
    <Form
      submitLabel={action}
      onCancel={onClose}
      onSubmit={async () => {
        await change(model, body);
        onClose();
      }}
    >
      <p>{children}</p>
    </Form>
  </Dialog>
);

interface ModelDialogProps {
  model: Model;
  onClose: () => void;
}

const PublishDialog = ({ model, onClose }: ModelDialogProps) => (
  <ChangeDialog model={model} title={`Publish ${model.name}`} action="Publish model" body={{ status: 'published' }} onClose={onClose}>
    Within 30 s, all organizations can see this model and send requests to it.
  </ChangeDialog>
);

const WithdrawDialog = ({ model, onClose }: ModelDialogProps) => (
  <ChangeDialog
    model={model}
    title={`Withdraw the deprecation of ${model.name}`}
    action="Withdraw deprecation"
    body={{ deprecation: null }}
    onClose={onClose}
  >
    Responses of this model no longer announce its removal.
  </ChangeDialog>
);

const UnpublishDialog = ({ model, onClose }: ModelDialogProps) => (
  <Confirm
    title={`Unpublish ${model.name}`}
    action="Unpublish model"
    typed={model.name}
    onConfirm={() => change(model, { status: 'unpublished' })}
    onClose={onClose}
  >
    Within 30 s, all new requests to {model.name} fail with status 404. Requests in progress are completed.
  </Confirm>
);

const DIALOGS = {
  price: PriceDialog,
  publish: PublishDialog,
  unpublish: UnpublishDialog,
  deprecate: DeprecationDialog,
  fallbacks: FallbacksDialog,
  withdraw: WithdrawDialog,
} as const;

/** The platform's actions on a shared model. Models of deployments follow their deployment. */
export const PlatformActions = ({ model }: { model: Model }) => {
  const me = useSignedIn();
  const [open, setOpen] = useState<keyof typeof DIALOGS>();
  if (model.organization !== null) return null;
  const canChange = can(me, 'models:write');
  const OpenDialog = open && DIALOGS[open];
  return (
    <Row>
      {can(me, 'prices:write') && <Button onClick={() => setOpen('price')}>Add price</Button>}
      {canChange && <Button onClick={() => setOpen('fallbacks')}>Edit fallbacks</Button>}
      {canChange && <Button onClick={() => setOpen('deprecate')}>{model.deprecation ? 'Change deprecation' : 'Deprecate'}</Button>}
      {canChange && model.deprecation && <Button onClick={() => setOpen('withdraw')}>Withdraw deprecation</Button>}
      {canChange && model.status === 'published' && <Button onClick={() => setOpen('unpublish')}>Unpublish</Button>}
      {canChange && model.status !== 'published' && (
        <Button look="primary" onClick={() => setOpen('publish')}>
          Publish
        </Button>
      )}
      {OpenDialog && <OpenDialog model={model} onClose={() => setOpen(undefined)} />}
    </Row>
  );
};
