import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { openPage, openPanelByKey, pressIn, shot, shots, tabTo, untilFocused } from './browser'
import { startHost } from './host'
import { useStage } from './stage'

const stage = useStage()

/** A skill of the project that has a script and a few faults. */
const release = `---
name: relese
description: Cuts a release of the shop.
allowed-tools: Bash(git *), Read, Publisch
argument-hint: "[version]"
---

Takes about 5 minutes.

1. Read [the checklist](references/checklist.md).
2. Run \`scripts/release.sh $ARGUMENTS\`.
`
const review = `---
name: review
description: Reviews the shop. Use when somebody asks for a review.
---

Look at the prices first.
`
const files = {
  '.agent/skills/release/SKILL.md': release,
  '.agent/skills/release/scripts/release.sh': '#!/bin/sh\ngit tag "$1"\n',
  '.agent/skills/review/SKILL.md': review,
}

test('a skill is found, written, repaired and trusted, by keyboard only', async () => {
  const host = (stage.host = await startHost({ files }))
  await chmod(join(host.folder, '.agent/skills/release/scripts/release.sh'), 0o755)
  const { page, offences } = await openPage(stage.browser, host.url)
  const panel = await openPanelByKey(page, 'Skills')
  const row = (name: string) =>
    panel.getByRole('button', { name: new RegExp(`^Show /${name}( |$)`) })
  await row('release').waitFor()
  await panel.getByText('not used: .agent/skills/review/SKILL.md has the same name').waitFor()
  await shots(page, 'skills-list')
  expect(await violations(page)).toEqual([])

  // Another program writes one.
  const fresh = join(host.folder, '.claude/skills/fresh/SKILL.md')
  await mkdir(dirname(fresh), { recursive: true })
  await writeFile(fresh, review.replace('name: review', 'name: fresh'))
  await row('fresh').waitFor()

  // The user writes one.
  await pressIn(panel, panel.getByRole('button', { name: 'New skill' }))
  const form = panel.getByRole('form', { name: 'The text of a skill' })
  const name = form.getByRole('textbox', { name: 'Name' })
  await untilFocused(name)
  await page.keyboard.type('prices')
  await form.getByText('No findings.').waitFor()
  await shots(page, 'skills-new')
  expect(await violations(page)).toEqual([])
  await pressIn(panel, form.getByRole('button', { name: 'Save' }))
  await panel.getByText('Saved: /prices.').waitFor()
  const written = join(dirname(host.folder), '.agent/skills/prices/SKILL.md')
  expect(await readFile(written, 'utf8')).toContain('name: prices')
  await page.keyboard.press('Escape')
  await untilFocused(row('prices'))

  // A skill that is removed can be restored.
  await pressIn(panel, row('prices'))
  await pressIn(panel, panel.getByRole('button', { name: 'Remove /prices' }))
  const sure = page.getByRole('dialog', { name: 'Remove /prices' })
  await tabTo(sure.getByRole('button', { name: 'Remove' }))
  await page.keyboard.press('Enter')
  await panel.getByText('Removed: /prices. It can be restored below.').waitFor()
  await row('prices').waitFor({ state: 'detached' })
  await pressIn(panel, panel.getByRole('button', { name: '1 removed skill' }))
  await pressIn(panel, panel.getByRole('button', { name: 'Restore prices' }))
  await panel.getByText('Restored: prices.').waitFor()
  await row('prices').waitFor()
  expect(await readFile(written, 'utf8')).toContain('name: prices')

  // A finding leads to its line, and goes away with what caused it.
  await pressIn(panel, row('release'))
  await panel.getByText('waits for your trust').waitFor()
  await page.setViewportSize({ width: 1280, height: 1240 })
  await shot(page, 'skills-page')
  expect(await violations(page)).toEqual([])
  const wrong = 'line 2: The name differs from the folder'
  await pressIn(panel, panel.getByRole('button', { name: wrong }))
  const text = form.getByRole('textbox', { name: 'Text of .agent/skills/release/SKILL.md' })
  await untilFocused(text)
  await shots(page, 'skills-editor')
  expect(await violations(page)).toEqual([])
  await pressIn(panel, form.getByRole('button', { name: wrong }))
  await untilFocused(text)
  await page.keyboard.type('name: release')
  await form.getByRole('button', { name: wrong }).waitFor({ state: 'detached' })
  await page.keyboard.press('Control+s')
  await panel.getByText('Saved: /release.').waitFor()
  await panel.getByRole('button', { name: wrong }).waitFor({ state: 'detached' })

  // Its script is shown before it is trusted.
  await pressIn(panel, panel.getByRole('button', { name: 'Review…' }))
  const dialog = page.getByRole('dialog', { name: 'May this run?' })
  await dialog.getByText('git tag "$1"').waitFor()
  await shots(page, 'skills-trust')
  expect(await violations(page)).toEqual([])
  await tabTo(dialog.getByRole('button', { name: 'Trust exactly this' }))
  await page.keyboard.press('Enter')
  await panel.getByText('ready').waitFor()
  await pressIn(panel, panel.getByRole('button', { name: 'Show the prompt' }))
  await panel.getByText('What the model would get').waitFor()
  await shot(page, 'skills-tried')
  await pressIn(panel, panel.getByRole('button', { name: 'Use in this session' }))
  const field = page.getByRole('textbox', { name: 'Message', exact: true })
  await untilFocused(field)
  await expect.poll(() => field.inputValue()).toBe('/release ')
  expect(offences).toEqual([])
})
