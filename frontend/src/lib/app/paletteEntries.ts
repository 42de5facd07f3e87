/** What the palette goes to. */
import { own } from '../cost/messages'
import { t } from '../i18n/i18n.svelte'
import { switchPrice } from '../model/cachePrice'
import { dollars } from '../model/format'
import type { PaletteEntry } from '../model/palette'
import { draftOwner, putBack, readDraft, writeDraft } from '../state/drafts.svelte'
import { type SettingsTab, tabs } from '../settings/registry'
import type { Workbench } from '../state/workbench.svelte'
import type { ModelInfo } from '../types.gen'
import type { Command } from '../model/keymap'
import { panelKeys } from '../ui/panelKeys'
import { keysShown, shortcuts } from '../ui/shortcuts'
import { arranged } from './panels'

type Parts = {
  bench: Workbench
  run: (command: Command) => void
  /** Opens a panel, at a part of it. */
  show: (panel: string, target?: unknown) => unknown
  open: (session: string) => void
  settings: (tab: SettingsTab, goal?: string) => void
  compose: () => void
}

/** Everything that the palette finds now, in the order in which the kinds stand without words. */
export function paletteEntries(parts: Parts): PaletteEntry[] {
  return [
    ...sessionsOf(parts),
    ...commandsOf(parts),
    ...panelsOf(parts),
    ...modelsOf(parts),
    ...settingsOf(parts),
    ...symbolsOf(parts),
    ...filesOf(parts),
  ]
}

const sessionsOf = ({ bench, open }: Parts): PaletteEntry[] =>
  bench.sessions.families.map(({ session: { id, title, prompt = '', marks } }) => ({
    id: `session:${id}`,
    kind: 'session',
    label: title || t('session.untitled'),
    hint: [marks?.label, ...(marks?.tags ?? []).map((tag) => `#${tag}`)].filter(Boolean).join(' '),
    words: prompt,
    run: () => open(id),
  }))

function commandsOf({ bench, run, compose }: Parts): PaletteEntry[] {
  const window = shortcuts
    .flatMap(({ lines }) => lines)
    .flatMap((line): PaletteEntry[] => {
      if ('fixed' in line || line.command === 'palette') return []
      const { label, command } = line
      const [keys] = keysShown(line, bench.keymap.keys)
      const entry = { id: `command:${command}`, kind: 'command' as const, label: t(label) }
      return [{ ...entry, ...(keys && { keys }), run: () => run(command) }]
    })
  const local = new Set(bench.commands.local.map(({ name }) => name))
  const owner = () =>
    bench.conversation ? draftOwner(bench.conversation.id) : (bench.project?.folder ?? '')
  /** A command of the page runs at once; another waits in the field for what follows it. */
  const use = (name: string) => {
    if (local.has(name)) return bench.commands.runLocal(`/${name}`)
    const written = readDraft(owner())
    if (written.trim() === '') writeDraft(owner(), `/${name} `)
    else putBack(owner(), `/${name}`)
    return compose()
  }
  const typed = bench.commands.list.map(({ name, description = '' }): PaletteEntry => ({
    id: `prompt:${name}`,
    kind: 'prompt',
    label: `/${name}`,
    hint: description,
    run: () => use(name),
  }))
  return [...window, ...typed]
}

const panelsOf = ({ bench, show }: Parts): PaletteEntry[] => {
  const all = arranged(bench.preferences?.layout.rail)
  const rail = all.filter(({ hidden }) => !hidden).map(({ panel }) => panel)
  return all.map(({ panel }) => {
    const at = rail.indexOf(panel)
    return {
      id: `panel:${panel.name}`,
      kind: 'panel',
      label: panel.label(),
      hint: panel.hint(),
      ...(at >= 0 && at < 10 && { keys: panelKeys(at) }),
      run: () => show(panel.name, {}),
    }
  })
}

const modelsOf = ({ bench }: Parts): PaletteEntry[] =>
  bench.catalog.providers
    .filter(({ ready }) => ready)
    .flatMap(({ id: provider, name, models = [] }) =>
      models.map((model) => ({
        id: `model:${provider}/${model.id}`,
        kind: 'model' as const,
        label: model.scripted ? t('app.demo') : model.name || model.id,
        hint: [name, ...(isOther(bench, provider, model.id) ? anew(bench, model) : [])].join(' · '),
        words: model.id,
        run: () =>
          bench.settings && bench.configure({ ...bench.settings, provider, model: model.id }),
      })),
    )

const isOther = ({ settings }: Workbench, provider: string, model: string) =>
  settings?.provider !== provider || settings.model !== model

/** What another model takes to read the open session anew, because it has not cached it. */
function anew({ conversation, context }: Workbench, model: ModelInfo): string[] {
  const found = conversation && switchPrice(context.info, model, Date.now())
  return found?.cost ? [own('reads_anew', { cost: dollars(found.cost) })] : []
}

const settingsOf = ({ bench, settings }: Parts): PaletteEntry[] =>
  tabs.flatMap(({ value, label: place, settings: of }) =>
    of(bench).map(({ id, label, hint, words }) => ({
      id: `setting:${value}/${id}`,
      kind: 'setting' as const,
      label,
      hint: place(),
      words: `${hint ?? ''} ${words}`,
      run: () => settings(value, id),
    })),
  )

const filesOf = ({ bench, show }: Parts): PaletteEntry[] =>
  (bench.files.list?.files ?? []).map((path) => ({
    id: `file:${path}`,
    kind: 'file',
    label: path,
    run: () => show('files', { path }),
  }))

const symbolsOf = ({ bench, show }: Parts): PaletteEntry[] =>
  bench.commands.names.symbols.found.map(({ name, path, line }) => ({
    id: `symbol:${path}/${name}/${line}`,
    kind: 'symbol',
    label: name,
    hint: `${path}:${line}`,
    run: () => show('files', { path, line }),
  }))
