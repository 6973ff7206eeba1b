import { afterAll } from '@jest/globals';
import { publishedModels } from './run.ts';
import './aliases.ts';
import './catalog.ts';
import './openai-fallbacks.ts';
import './registrations.ts';
import './structured-outputs.ts';

afterAll(publishedModels.close);
