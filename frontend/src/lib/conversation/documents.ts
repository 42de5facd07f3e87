/** Describes the project's instruction files that were sent to a model. */
import { bytes } from '../model/format'
import { listed, t } from '../i18n/i18n.svelte'
import { documentWords } from '../i18n/problems'
import type { Document } from '../types.gen'
import { markHidden } from '../model/visible'

const isCut = (document: Document) => !document.problem && document.told < document.size

/** The names of the documents, and whether all of them were sent completely. */
export function documentsLabel(documents: readonly Document[]): string {
  const names = listed(documents.map((document) => markHidden(document.path)))
  const isWhole = !documents.some((document) => document.problem || isCut(document))
  return t(isWhole ? 'notice.documents' : 'notice.documents_cut', { names })
}

/** A document and how much of it was sent. */
export function documentLine(document: Document): string {
  const path = markHidden(document.path)
  if (document.problem)
    return t('notice.document_left_out', { path, problem: documentWords(document) })
  const size = bytes(document.size)
  if (!isCut(document)) return `${path} · ${size}`
  return t('notice.document_cut', { path, told: bytes(document.told), size })
}
