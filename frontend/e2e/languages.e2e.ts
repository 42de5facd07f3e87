import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { violations } from './axe'
import { answer, openPage, openPanelByKey, prompt, shots } from './browser'
import { startHost } from './host'
import { modelID, startModel } from './model'
import { useStage } from './stage'

const stage = useStage()
const tools = resolve(import.meta.dirname, '../../.cache/tools')
const call = (name: string, input: Record<string, unknown>) => ({ calls: [{ name, input }] })

test.skipIf(!existsSync(`${tools}/gopls`))(
  'a real language server renames, marks what is wrong in Changes, and is seen, restarted and switched off in its panel',
  async () => {
    const model = (stage.model = await startModel([
      call('LSP', { operation: 'hover', file_path: 'shop.go', line: 2, query: 'Price' }),
      call('RenameSymbol', { file_path: 'shop.go', line: 3, symbol: 'Price', new_name: 'Cost' }),
      call('Read', { file_path: 'shop.go' }),
      call('Edit', { file_path: 'shop.go', old_string: 'return 1', new_string: 'return one' }),
      { text: 'It is renamed.' },
    ]))
    const host = (stage.host = await startHost({
      files: {
        'go.mod': 'module example.com/shop\n\ngo 1.24\n',
        'shop.go': 'package shop\n\nfunc Price() int { return 1 }\n',
        'till.go': 'package shop\n\nvar total = Price()\n',
      },
      models: [{ id: modelID, provider: 'compat', display_name: 'Scripted' }],
      env: {
        COMPAT_BASE_URL: model.url,
        COMPAT_API_KEY: 'test-key',
        PATH: `${tools}:${process.env.PATH}`,
      },
    }))
    const { page, offences } = await openPage(stage.browser, host.url)
    await prompt(page, 'Rename Price.')
    const question = page.getByRole('region', { name: /^Needs you/ })
    await question.getByText('till.go').first().waitFor()
    await shots(page, 'languages-rename')
    await answer(question)
    await question.getByText('return one').first().waitFor()
    await answer(question)
    await page.getByText('It is renamed.').waitFor()

    const changes = page.getByRole('complementary', { name: 'Changes' })
    await changes.getByRole('button', { name: /shop\.go.*1 error/ }).click()
    await changes.getByRole('list', { name: 'What the language server finds wrong' }).waitFor()
    await page.getByText('undefined: one').first().waitFor()
    await shots(page, 'languages-faults')
    expect(await violations(page)).toEqual([])

    const panel = await openPanelByKey(page, 'MCP servers')
    const list = panel.getByRole('list', { name: 'Language servers' })
    await list.getByText(/running · gopls/).waitFor()
    await shots(page, 'languages-panel')
    await list.getByRole('button', { name: /^Restart the language server for Go/ }).click()
    await list.getByText(/running · gopls/).waitFor()
    await list.getByRole('switch', { name: 'Use the language server for Go' }).click()
    await list.getByText(/switched off · gopls/).waitFor()
    await shots(page, 'languages-off')
    expect(await violations(page)).toEqual([])
    expect(offences).toEqual([])
  },
)
