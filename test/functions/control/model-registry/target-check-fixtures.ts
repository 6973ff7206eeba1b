import { expect } from '@jest/globals';
import { checkTargets, type TargetCheckDependencies } from '../../../../functions/control/model-registry/check-targets.ts';
import { RegistrationReport } from '../../../../functions/control/model-registry/registration-report.ts';
import { createSageMakerClients, createTargetFacts } from '../../../../functions/control/model-registry/target-facts.ts';
import { createInvokeFunction } from '../../../../shared/aws/invoke-function.ts';
import { Model, type NewModel } from '../../../../shared/models/model.ts';
import { createTokenizer } from '../../../../shared/tokens/tokenizer.ts';
import { createSdkInvoke, createSdkWholeInvoke } from '../../../../shared/upstream/sdk-invoke.ts';
import { startFakeLambda } from '../../../support/emulators/fake-lambda.ts';
import { startFakeSageMaker } from './fake-sagemaker.ts';

/** The dependencies of the checks, with a fake SageMaker and a fake Lambda. */
export const startFakes = async () => {
  const lambda = await startFakeLambda();
  const sagemaker = await startFakeSageMaker();
  const deps: TargetCheckDependencies = {
    facts: createTargetFacts(createSageMakerClients()),
    invoke: createSdkInvoke(),
    invokeWhole: createSdkWholeInvoke(),
    tokenizer: createTokenizer(createInvokeFunction(), 'the-tokenizer'),
    endpointTag: 'sluice',
    now: Date.now,
  };
  const close = async (): Promise<void> => {
    await sagemaker.close();
    await lambda.close();
  };
  return { lambda, sagemaker, deps, close };
};
export type Fakes = Awaited<ReturnType<typeof startFakes>>;

export const modelOf = (targets: NewModel['targets'], change: Partial<NewModel> = {}): Model =>
  Model.parse({
    name: 'm',
    status: 'unpublished',
    created: 0,
    context_length: 10,
    max_output_tokens: 5,
    default_output_tokens: 5,
    targets,
    prices: [{ version: '1', effective_at: 0, prompt_nanos: 1, completion_nanos: 1 }],
    ...change,
  });

/** Checks targets with the dependencies, which can be made later. */
export const checksWith = (deps: () => TargetCheckDependencies) => {
  /** Runs the checks; the report must have the documented shape and must not leak internals. */
  const check = async (targets: NewModel['targets'], change: Partial<NewModel> = {}, other: Partial<TargetCheckDependencies> = {}) => {
    const report = await checkTargets({ ...deps(), ...other }, modelOf(targets, change));
    expect(RegistrationReport.parse(report)).toEqual(report);
    expect(JSON.stringify(report)).not.toMatch(/arn:|\d{12}|https?:|Traceback|the-tokenizer/);
    return report;
  };

  /** The first target's passed checks, and its failed check with its detail. */
  const checkOne = async (target: NewModel['targets'][0], other: Partial<TargetCheckDependencies> = {}) => {
    const { targets, passed } = await check([target], {}, other);
    const checks = targets[0]?.checks ?? [];
    const failed = checks.find((one) => !one.passed);
    expect(checks.map(({ name }) => name)).toEqual(['exists', 'tagged', 'in_service', 'answers']);
    expect(passed).toBe(failed === undefined);
    return { passed: checks.filter((one) => one.passed).map(({ name }) => name), failed: failed?.name, detail: failed?.detail };
  };
  return { check, checkOne };
};
