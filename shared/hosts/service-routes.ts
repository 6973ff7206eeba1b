import { jsonReply } from '../http/reply.ts';
import type { Handle, Routes } from '../http/router.ts';
import type { createReference } from '../static-files/reference.ts';

/** The versions of the interfaces (interface 9), which releases of the software don't change by themselves. */
export const API_VERSIONS = { inference: '1.0.0', control: '1.0.0' } as const;

/** The routes by which every host describes itself. */
export const servicePaths = { health: '/health', version: '/version', document: '/openapi.json', reference: '/docs' } as const;

interface Service {
  health: Handle;
  reference: ReturnType<typeof createReference>;
  apiVersion: string;
}

const deployedRelease = () => ({ version: process.env.SLUICE_VERSION ?? 'unknown', commit: process.env.SLUICE_COMMIT ?? 'unknown' });

export const serviceRoutes = ({ health, reference, apiVersion }: Service): Routes => ({
  [servicePaths.health]: { GET: health },
  [servicePaths.version]: { GET: async ({ requestId }) => jsonReply(requestId, 200, { ...deployedRelease(), api_version: apiVersion }) },
  [servicePaths.document]: { GET: reference.document },
  [servicePaths.reference]: { GET: reference.page },
  [`${servicePaths.reference}/{file}`]: { GET: reference.viewerFile },
});
