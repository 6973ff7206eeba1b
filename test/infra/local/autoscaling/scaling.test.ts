import {
  DeleteScalingPolicyCommand,
  DeregisterScalableTargetCommand,
  DescribeScalableTargetsCommand,
  DescribeScalingPoliciesCommand,
  PutScalingPolicyCommand,
  RegisterScalableTargetCommand,
} from '@aws-sdk/client-application-auto-scaling';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type ControlPlane, createControlPlane } from '../../../support/emulators/sagemaker-control-plane.ts';
import { componentOf, deploy, scaledVariant, setCopies } from '../sagemaker/deployment.ts';

let plane: ControlPlane;
beforeEach(async () => {
  plane = createControlPlane();
  await deploy(plane, 'a', 1, scaledVariant('ml.g5.xlarge', 4));
});

const target = {
  ServiceNamespace: 'sagemaker',
  ResourceId: 'inference-component/a',
  ScalableDimension: 'sagemaker:inference-component:DesiredCopyCount',
} as const;
const register = (MinCapacity: number, MaxCapacity: number, isSuspended = false) =>
  plane.autoScaling.send(
    new RegisterScalableTargetCommand({
      ...target,
      MinCapacity,
      MaxCapacity,
      SuspendedState: {
        DynamicScalingInSuspended: isSuspended,
        DynamicScalingOutSuspended: isSuspended,
        ScheduledScalingSuspended: isSuspended,
      },
    }),
  );
const putPolicy = (TargetValue: number, DisableScaleIn = false) =>
  plane.autoScaling.send(
    new PutScalingPolicyCommand({
      ...target,
      PolicyName: 'concurrency',
      PolicyType: 'TargetTrackingScaling',
      TargetTrackingScalingPolicyConfiguration: {
        TargetValue,
        DisableScaleIn,
        PredefinedMetricSpecification: {
          PredefinedMetricType: 'SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution' as never,
        },
      },
    }),
  );
const invoke = (count: number) => Array.from({ length: count }, () => plane.account.beginInvocation('a'));
const desired = async () => (await componentOf(plane, 'a')).RuntimeConfig?.DesiredCopyCount;

describe('target tracking', () => {
  test('adds the copies that bring the concurrency per copy to the target, up to the maximum', async () => {
    await register(1, 3);
    await putPolicy(2);
    invoke(9);
    plane.advance(999);
    expect(await desired()).toBe(1);
    plane.advance(1);
    expect(await desired()).toBe(3);
  });

  test('removes copies later, down to the minimum, once requests end', async () => {
    await register(1, 3);
    await putPolicy(2);
    const ends = invoke(6);
    plane.advance(10_000);
    expect((await componentOf(plane, 'a')).RuntimeConfig).toMatchObject({ DesiredCopyCount: 3, CurrentCopyCount: 3 });
    for (const end of ends) end();
    plane.advance(4_999);
    expect(await desired()).toBe(3);
    plane.advance(1);
    expect(await desired()).toBe(1);
  });

  test('waits anew if the concurrency is within the target in between', async () => {
    await register(1, 3);
    await putPolicy(2);
    const [end = () => undefined] = invoke(3);
    plane.advance(900);
    end();
    invoke(1);
    plane.advance(900);
    expect(await desired()).toBe(1);
    plane.advance(100);
    expect(await desired()).toBe(2);
  });

  test('never acts while it is suspended', async () => {
    await register(1, 3, true);
    await putPolicy(2);
    invoke(9);
    plane.advance(60_000);
    expect(await desired()).toBe(1);
    await register(1, 3);
    plane.advance(1_000);
    expect(await desired()).toBe(3);
  });

  test('removes nothing if scaling in is disabled', async () => {
    await register(1, 3);
    await putPolicy(2, true);
    const ends = invoke(6);
    plane.advance(10_000);
    for (const end of ends) end();
    plane.advance(60_000);
    expect(await desired()).toBe(3);
  });
});

describe('a component that was set to zero copies', () => {
  test('is woken by a target that is registered with a minimum of 1 and not suspended', async () => {
    await register(1, 3);
    await setCopies(plane, 'a', 0);
    plane.advance(1_000);
    expect((await componentOf(plane, 'a')).RuntimeConfig?.DesiredCopyCount).toBe(0);
    plane.advance(1_000);
    expect((await componentOf(plane, 'a')).RuntimeConfig?.DesiredCopyCount).toBe(1);
  });

  test.each([
    ['suspended', 1, true],
    ['registered with a minimum of 0', 0, false],
  ])('stays there if the target is %s', async (_, min, isSuspended) => {
    await register(min, 3, isSuspended);
    await putPolicy(2);
    await setCopies(plane, 'a', 0);
    plane.advance(600_000);
    expect(await desired()).toBe(0);
  });
});

test('targets and policies are described as they were set, and an update keeps what it does not name', async () => {
  await register(1, 3, true);
  await plane.autoScaling.send(new RegisterScalableTargetCommand({ ...target, MaxCapacity: 4 }));
  await putPolicy(2);
  const described = await plane.autoScaling.send(
    new DescribeScalableTargetsCommand({ ServiceNamespace: 'sagemaker', ResourceIds: [target.ResourceId, 'inference-component/b'] }),
  );
  expect(described.ScalableTargets).toMatchObject([
    { ...target, MinCapacity: 1, MaxCapacity: 4, SuspendedState: { DynamicScalingInSuspended: true, DynamicScalingOutSuspended: true } },
  ]);
  const policies = await plane.autoScaling.send(new DescribeScalingPoliciesCommand({ ...target }));
  expect(policies.ScalingPolicies).toMatchObject([
    { ...target, PolicyName: 'concurrency', TargetTrackingScalingPolicyConfiguration: { TargetValue: 2 } },
  ]);
  expect(policies.ScalingPolicies?.[0]?.Alarms).toHaveLength(2);
});

test('what is not registered cannot be found, nor a policy without a target', async () => {
  const message = 'No scalable target registered for service namespace: sagemaker, resource ID: inference-component/a,';
  const notFound = { name: 'ObjectNotFoundException', message: expect.stringContaining(message) };
  await expect(plane.autoScaling.send(new DeregisterScalableTargetCommand(target))).rejects.toMatchObject(notFound);
  await expect(putPolicy(2)).rejects.toMatchObject(notFound);
  const deletePolicy = () => plane.autoScaling.send(new DeleteScalingPolicyCommand({ ...target, PolicyName: 'concurrency' }));
  await expect(deletePolicy()).rejects.toMatchObject({ name: 'ObjectNotFoundException' });
  await register(1, 2);
  await putPolicy(2);
  await deletePolicy();
  expect(plane.account.proof().scalable_targets).toEqual(['a']);
  await plane.autoScaling.send(new DeregisterScalableTargetCommand(target));
  expect(plane.account.proof().scalable_targets).toEqual([]);
});

test('a target needs an existing component and capacities that are in order', async () => {
  const other = { ...target, ResourceId: 'inference-component/b', MinCapacity: 1, MaxCapacity: 2 };
  await expect(plane.autoScaling.send(new RegisterScalableTargetCommand(other))).rejects.toMatchObject({ name: 'ValidationException' });
  await expect(register(3, 2)).rejects.toThrow('Maximum capacity cannot be less than minimum capacity');
  await expect(plane.autoScaling.send(new RegisterScalableTargetCommand(target))).rejects.toThrow(
    'MinCapacity and MaxCapacity are required',
  );
});
