import type { BarrierPlaces } from "../flow/barrier-meetings.ts";
import type { LeafShapes } from "./lane-question.ts";
import type { Shape } from "./shape.ts";

/** The properties of a function's callers and launch on which the analysis depends. */
export interface Surroundings {
  readonly special: LeafShapes["special"];
  /** Shapes of the registers that hold parameters. */
  readonly params: ReadonlyMap<number, Shape>;
  /** Whether all lanes of the chunk begin together; else some may be missing from the start. */
  readonly full: boolean;
  /** Whether lanes that reach a block may have to wait at its beginning. */
  readonly stalls: (block: number) => boolean;
  /**
   * Whether some lanes may go on from such a block while others wait there: functions called from it return partially.
   */
  readonly returnsPartially: (block: number) => boolean;
  /** Where lanes wait for barriers for all threads. Default: nowhere. */
  readonly barrierPlaces?: BarrierPlaces;
  /** Whether lanes may exit in a function that the block's last instruction calls. */
  readonly exitsInCallee: (block: number) => boolean;
  /** Whether lanes that exit are distinguished from those that return, as they are in functions. */
  readonly separatesExits: boolean;
  /** Whether any variable lies in the lanes' stacks. */
  readonly stacks: boolean;
  /**
   * Whether a scalar call may enlist lanes that are at other blocks. Lanes on their way out then still count as
   * present.
   */
  readonly enlistsLanes: boolean;
  /**
   * Whether lanes that ask together whether a phase of an mbarrier is complete get the same answer: the question
   * changes nothing, and nobody else does meanwhile.
   */
  readonly asksTogether: boolean;
  /** Lanes of a chunk: rules for fewer lanes leave some out. */
  readonly lanes: number;
  /**
   * The lanes that come to the operation of a warp with which a block begins, where in each warp they are those that
   * they name, or groups each of which names itself. Default: unknown.
   */
  readonly participants?: (block: number) => Participants | null;
}

/** Some lanes of warps that, as thread numbers say, are all that come to an operation. Equal lanes are one object. */
export interface Participants {
  /** Whether those of a warp are several groups, as tiles are: what one does has nothing to do with the others. */
  readonly areApart: boolean;
  /** Whether the end of a block sends some of a warp's another way than others; null where numbers do not say it. */
  readonly divides: (block: number) => boolean | null;
}
