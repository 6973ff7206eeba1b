import { readFileSync } from 'node:fs';
import path from 'node:path';
import { drawTimeline } from '../../../../functions/control/observability/requests/draw-timeline.ts';
import { RequestDetail } from '../../../../functions/control/observability/requests/request-detail.ts';
import { drawText } from '../draw-text.ts';

// The reply of a local run to `GET /v1/observability/requests/{id}`.
const REQUEST = path.join(import.meta.dirname, 'request.json');

/** The timeline of that request, as the API draws it for a terminal. @returns an SVG document */
export const timelinePicture = (): string =>
  drawText('The timeline of a request', drawTimeline(RequestDetail.parse(JSON.parse(readFileSync(REQUEST, 'utf8'))), '$'));
