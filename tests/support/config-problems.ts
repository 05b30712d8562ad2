/** The settings of a production server, and the problems that a server reports when it reads its settings. */
import { ConfigError, readConfig } from '#server/config/config.ts';

export const PRODUCTION = { NODE_ENV: 'production', PUBLIC_URL: 'https://journal.example.com' };

export const problemsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
};
