// Judges a page's accessibility with axe-core, injected as it is: @axe-core/playwright wants a newer Node.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Page, expect } from '@playwright/test';
import type { AxeResults } from 'axe-core';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** No violation of any rule, best practices included. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
  // Colours in the middle of a transition are nobody's: the page is judged as it comes to rest.
  await page.evaluate(() => Promise.allSettled(
    document.getAnimations().filter((animation) => animation instanceof CSSTransition).map((animation) => animation.finished),
  ));
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(SOURCE);
  const { violations } = await page.evaluate(
    () => (window as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  const found = violations.map(({ id, help, nodes }) => `${id}: ${help}\n${nodes.map((node) => `  ${node.html}\n  ${node.failureSummary}`).join('\n')}`);
  expect(found, `accessibility of ${what}`).toEqual([]);
}
