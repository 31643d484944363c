// Looks at one screen from all sides: phone and desktop, light and dark. Pictures are for people to look at.
import { join } from 'node:path';
import { type Page, expect } from '@playwright/test';
import { expectAccessible } from './axe.ts';

const FOLDER = join(import.meta.dirname, '../test-results/screens');
const SIZES = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } };
const SCHEMES = ['light', 'dark'] as const;
/** The narrowest screen that has to do (WCAG 1.4.10). */
const NARROWEST = { width: 320, height: 640 };

export async function inspect(page: Page, name: string): Promise<void> {
  for (const scheme of SCHEMES) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.setViewportSize(viewport);
      if (size === 'phone') await expectAccessible(page, `${name}, ${scheme}`);
      await page.screenshot({ path: join(FOLDER, `${name}-${size}-${scheme}.png`), fullPage: true });
    }
  }
  await page.setViewportSize(NARROWEST);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(overflow, `${name} at ${NARROWEST.width} px: nothing sticks out sideways`).toBeLessThanOrEqual(0);
}
