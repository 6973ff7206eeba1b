import * as z from 'zod';
import { FREE, setting, settings } from './setting.ts';

const GUIDE = 'publish-models.md#let-organizations-deploy-their-own-models';
const HELD_COST = 'About 70 cents an hour for 50 requests that wait all the time.';

/** The settings of organizations' deployments, and of callers that wait for one. */
export const Deployments = settings(
  { description: 'What organizations can deploy, and how many requests can wait for a sleeping deployment.', guide: GUIDE },
  z
    .strictObject({
      hubModels: setting(
        {
          description:
            'Lets deployments load a model from the Hugging Face Hub. Their containers then have a network, and with it the credentials of a role that reads no weights ([decision 0032](decisions/0032-deployment-containers-run-with-network-isolation.md)).',
          cost: FREE,
          example: { deployments: { hubModels: true } },
        },
        z.boolean().default(false),
      ),
      repositories: setting(
        {
          description:
            "The ECR repositories with the images of runtimes, in any account, such as AWS's `vllm`. SageMaker can't pull from others.",
          cost: FREE,
          example: { deployments: { repositories: ['vllm', 'my-runtime'] } },
        },
        z
          .array(z.string().regex(/^[a-z0-9]+([._/-][a-z0-9]+)*$/, 'expected the name of an ECR repository, such as vllm'))
          .min(1)
          .max(20)
          .default(['vllm', 'djl-inference', 'sglang-server']),
      ),
      detailedMetrics: setting(
        {
          description:
            "SageMaker publishes more than a hundred metrics of each deployment's containers, GPUs and hosts to CloudWatch every minute.",
          cost: '$0.50 for each GB of them, for as long as an instance runs.',
          example: { deployments: { detailedMetrics: true } },
        },
        z.boolean().default(false),
      ),
      maxHeldRequests: setting(
        {
          description:
            'How many requests can wait for one deployment while it wakes. Each occupies an environment of `ondemand-inference` for up to ten minutes.',
          cost: HELD_COST,
          example: { deployments: { maxHeldRequests: 20 } },
          defaultText: '50, or `maxHeldRequestsOfOrganization` if that is less',
        },
        z.int().min(0).max(1_000).optional(),
      ),
      maxHeldRequestsOfOrganization: setting(
        {
          description:
            'How many requests of one organization can wait for all of its deployments together. The synthesis fails if it is less than `maxHeldRequests`, or more than `ondemand-inference` reserves. By default, it takes four organizations to hold all environments of that function.',
          cost: HELD_COST,
          example: { deployments: { maxHeldRequestsOfOrganization: 100 } },
          defaultText: 'a quarter of what `ondemand-inference` reserves (50 of 200), or 50 without a reservation',
        },
        z.int().min(0).max(10_000).optional(),
      ),
    })
    .prefault({}),
);
