import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Departure, DOCUMENT, departures, folderDiagram, readDocument, readModules, withDiagram } from './plan.ts';

/**
 * The modules of a project, and where it departs from the plan, its diagram included.
 * @param isWriting true if the diagram is redrawn in its document
 */
export const checkPlan = async (root: string, isWriting: boolean): Promise<{ files: string[]; departures: Departure[] }> => {
  const result = await readModules(root);
  const document = readDocument(root);
  const drawn = withDiagram(document, folderDiagram(result));
  if (isWriting) writeFileSync(path.join(root, DOCUMENT), drawn);
  const outdated =
    drawn === document || isWriting ? [] : [{ rule: 'diagram', message: `${DOCUMENT} shows other imports. Run npm run format.` }];
  return { files: result.modules.map(({ source }) => source), departures: [...departures(result), ...outdated] };
};
