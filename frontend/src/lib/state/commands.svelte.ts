import { ApiError, asApiError, type Call } from '../api'
import { t } from '../i18n/i18n.svelte'
import { oneAtATime } from '../model/oneAtATime'
import {
  commandNamed,
  commandOf,
  firstOfEach,
  type Message,
  nameIn,
  nearest,
  skillOf,
  slashWord,
} from '../model/slash'
import { markHidden } from '../model/visible'
import { Names } from './names.svelte'
import type { CompleteReply, Envelope, SessionInfo, SlashCommand } from '../types.gen'

/** A command that the page runs itself. */
export type LocalCommand = {
  name: string
  /** What people know it as from other programs. */
  aliases?: string[]
  about: () => string
  /** Whether text may follow the name. */
  takes?: boolean
  /** Whether it is about the open session. */
  needsSession?: boolean
  /** Whether a skill or a server's command of the same name takes its place. */
  yields?: boolean
  /** False if it could not run, so that it stays in the field. */
  run: (rest: string) => unknown
}

/** What can be typed after a slash in the message field, and after an at sign. */
export class Commands {
  readonly names: Names
  /** The commands of the page. They come before others of the same name. */
  local = $state.raw<readonly LocalCommand[]>([])
  #offered = $state.raw<readonly SlashCommand[]>([])
  readonly #own = $derived(
    this.local.filter((it) => !it.yields || this.#offered.every(({ name }) => name !== it.name)),
  )
  readonly #others = $derived(
    this.#offered.filter(({ name }) => this.#own.every((command) => command.name !== name)),
  )
  readonly list = $derived<readonly SlashCommand[]>([
    ...this.#own.map(({ name, aliases = [], about }) => ({
      name,
      aliases,
      kind: 'prompt' as const,
      source: '',
      description: about(),
    })),
    ...this.#others,
  ])
  /** The argument that is missing in the command that was last sent; empty if none is. */
  missing = $state('')
  /** Whether what is offered is known. */
  #isRead = false
  #session = ''
  #call: Call
  #report: (problem: ApiError) => void

  constructor(
    call: Call,
    report: (problem: ApiError) => void,
    sessions?: () => readonly SessionInfo[],
  ) {
    this.#call = call
    this.#report = report
    this.names = new Names(call, () => this.#at, sessions)
  }

  follow(session: string | undefined): void {
    this.#session = session ?? ''
    void this.load()
  }

  receive({ events }: Envelope): void {
    if (events?.some(({ kind }) => kind === 'skills_change')) void this.load()
  }

  readonly load = oneAtATime(async () => {
    try {
      const { commands } = await this.#call('commands.list', { session: this.#at })
      this.#offered = firstOfEach(commands ?? [])
      this.#isRead = true
    } catch {
      this.#isRead = false // what was read before may still hold
    }
  })

  /** Runs a text that is a command of the page, and reports whether it ran; undefined if it is not one. */
  async runLocal(text: string): Promise<boolean | undefined> {
    const typed = nameIn(text)
    const found = typed === undefined ? undefined : commandNamed(typed, this.list)
    const command = this.#own.find(({ name }) => name === found?.name)
    if (!command) return undefined
    const rest = text.slice(typed!.length + 1).trim()
    if (command.needsSession && !this.#session) return this.#refuse(t('commands.no_session'))
    if (rest && !command.takes) {
      return this.#refuse(t('commands.alone', { name: `/${typed}` }), t('commands.as_text'))
    }
    return (await command.run(rest)) !== false
  }

  /** Says why a text was not sent. */
  #refuse(message: string, next = ''): false {
    this.#report(new ApiError({ message, kept: t('commands.unread_kept'), next }))
    return false
  }

  /** Whether a name belongs to a command of the page that hides a skill of the same name. */
  hidesSkill = (name: string): boolean =>
    this.#own.some((it) => it.name === name) &&
    this.#offered.some((it) => it.kind === 'skill' && it.name === name)

  /** The skill that a text uses; undefined if it uses none. */
  skill = (text: string) => skillOf(text, this.list)

  /** What is sent for a text: a skill, what its command stands for, else the text; undefined if it has to be changed first. */
  async expand(text: string): Promise<Message | undefined> {
    if (!(await this.#knows(text))) return undefined
    const skill = this.skill(text)
    if (skill) return { text, command: skill.call }
    const { command, values, missing = '' } = commandOf(text, this.#others) ?? {}
    this.missing = missing
    if (!command) return this.#isMessage(text) ? { text } : undefined
    if (missing) return undefined
    try {
      const request = { session: this.#at, name: command.name, arguments: values }
      const expanded = (await this.#call('commands.expand', request)).text
      return { text: expanded.startsWith('/') ? ` ${expanded}` : expanded } // it is not a command again
    } catch (thrown) {
      this.#report(asApiError(thrown))
      return undefined
    }
  }

  /** Whether a text is no command that does not exist. If it is, the user is told. */
  #isMessage(text: string): boolean {
    const typed = slashWord(text)
    if (typed === undefined) return true
    const near = nearest(typed, this.list)
    const name = `/${markHidden(typed)}`
    return this.#refuse(
      near ? t('commands.near', { name, near: `/${near}` }) : t('commands.unknown', { name }),
      t('commands.as_text'),
    )
  }

  /** Whether the commands are known, so that a text that begins like one can be sent. If not, the user is told. */
  async #knows(text: string): Promise<boolean> {
    const name = nameIn(text)
    if (name === undefined || this.#isRead) return true
    await this.load()
    if (this.#isRead) return true
    this.#report(
      new ApiError({
        message: t('commands.unread', { name: `/${markHidden(name)}` }),
        kept: t('commands.unread_kept'),
        next: t('commands.unread_next'),
      }),
    )
    return false
  }

  /** Values of an argument that begin with what is typed. */
  async complete(
    { name }: SlashCommand,
    argument: string,
    value: string,
    values: Record<string, string>,
  ): Promise<CompleteReply> {
    const others = Object.fromEntries(Object.entries(values).filter(([key]) => key !== argument))
    try {
      return await this.#call('commands.complete', { name, argument, value, arguments: others })
    } catch {
      return {}
    }
  }

  get #at(): string | undefined {
    return this.#session || undefined
  }
}
