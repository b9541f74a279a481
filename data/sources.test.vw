1 |t square [ i ] * = r
1 |t double soft_threshold " vwlite_soft_threshold " ( double v , double a ) noexcept nogil
1 |t spread ( < const uint 32 _t * > self . a . value , self . a . features , & least , & largest )
1 |t while low < high
-1 |t return tagged ( " " . join ( f " { c } { partial if i = = 0 else 0 g } " for i , ( c , _ ) in enumerate ( costs ) ) , e )
1 |t def _shared ( self , name , value )
-1 |t scores list [ float ] = field ( default_factory = list )
-1 |t STATE = [
-1 |t " " " What ` write_regularizer ` wrote behind the head . " " "
-1 |t " " " From files to batches reading and parsing run in threads of their own , ahead of learning .
1 |t Words are eight bytes in a 64 - bit integer ( " SIMD within a register " ) the first byte of the text is
1 |t cdef double LEAST_P = 12 # for more than one term 400 features
-1 |t out + = names . get ( letter , [ ] )
-1 |t for name in ( " max_errors " , " rejects " )
-1 |t if not RULES [ settings . algorithm ] . CLIPS or settings . oaa
1 |t uint 64 _t bits = _mm 512 _cmple_epu 8 _mask ( text , blank ) _mm 512 _cmpeq_epi 8 _mask ( text , colon )
1 |t if self . distinct_labels = = 0
1 |t self . slots [ i ] + = offset
-1 |t head , bar , _ = line . partition ( b " " )
-1 |t default = default_of ( a , name )
-1 |t option = LETTERS . get ( word [ 1 ] )
1 |t " " " The higher block of a feature ' s . " " "
-1 |t fingerprint is that of the data and options of now , and every byte of it is accounted for . Nothing counts as
-1 |t def batches ( self , threads int = 1 ) - > Iterator [ tuple [ Batch , int ] ]
-1 |t " " " The example of a line ; a blank one for a blank line . " " "
1 |t cdef double LEFT = 2 . 0 * * - 50 # of the largest R since it was made anew two doubles hold twice as many digits
-1 |t " " " The rule , and its name in the header . Sets the rates of the setup . " " "
1 |t # Far below 0 the sigmoid is e ^ s , and only the ratios matter .
1 |t elif self . take_whole ( a , line , & e , learns )
-1 |t found . affixes = parse_affixes ( unescaped ( a [ " affix " ] ) )
1 |t if slope > 0
1 |t def count_lines ( const uint 8 _t [ 1 ] data not None )
-1 |t if self . _direct and self . _fd is not None
-1 |t text = bytes ( block . data [ fault . line_begin fault . line_end ] )
-1 |t say ( summary ( results ) )
-1 |t f " ftrl_alpha = { short ( alpha ) } " ,
-1 |t " " " Whether to read on , and what to say if that fails . " " "
1 |t cdef size_t expanded # the line of the batch that was expanded ahead
1 |t cdef uint 32 _t names_so_far ( self ) noexcept nogil
1 |t free ( self . shares )
-1 |t " save - weights - only " o . save_weights_only ,
1 |t A slot holds K records , so a feature is looked up once for all classes . Each rule has a table that is a view of its
-1 |t if on_stop is not None
-1 |t return " xz " , lzma . LZMADecompressor ( )
1 |t # w = scale * soft ( z , shift ) / H , H = delta + sqrt ( S )
-1 |t while view . nbytes
-1 |t " " " A number as it stands in a file of predictions integers without decimals . " " "
1 |t self . fold ( )
-1 |t " w < - T 0 ( w - eta_t g , theta ) " ,
-1 |t return " poisson needs a label of 0 or more "
-1 |t from click . shell_completion import CompletionItem
1 |t cdef struct Letters
-1 |t _OPEN_ALREADY = re . compile ( r " / dev / ( ? ( stdout ) ( stderr ) fd / ( \ d { 1 , 6 } ) ) / proc / self / fd / ( \ d { 1 , 6 } ) " )
1 |t cdef class Limited ( Rule )
1 |t " " " Pay what a slot has missed ; a zero has u = Theta . " " "
1 |t NONNEGATIVE = 2
-1 |t def column ( x float , form str = " < 10 . 5 f " ) - > str
1 |t ( < Rule > self . each [ k ] ) . update ( & part , & self . outcomes [ k ] )
1 |t memcpy ( slot , given , self . record )
1 |t bar ; or the end of a line that is blank . " " "
1 |t " " " The weight of a key , cut to the bits that there are . " " "
-1 |t s . indexing = csoaa . indexing
-1 |t return float ( self . learner . linked ( x ) )
-1 |t _FILE = " options_cli . cc "
-1 |t raise ValueError ( " the classes are not different names " )
1 |t return ( self . sum ( ) - self . radius ) / self . active if self . active else 0
1 |t if ( < Slot * > slot ) . mark ! = self . constant
1 |t from vwlite . core . learn . prox cimport only_if
1 |t cdef double c = learning_rate ( & self . shrinkage , t )
-1 |t for begin in range ( piece . begin , piece . end , size )
1 |t self . sum - = self . units ( s . u )
1 |t " " " ` adapt ` for any power_t r = G ^ - power_t ( N ^ 2 ) ^ ( power_t - 1 ) ; the sum of x ^ 2 r . " " "
-1 |t rest = source . data [ source . at ]
1 |t cdef bint whole = False , binary = domain = = " binary "
1 |t cdef double size ( self , const char * slot ) noexcept nogil
-1 |t " " " A neural network with one hidden layer , whose units are linear models nn . " " "
1 |t def shifted ( const uint 32 _t [ 1 ] numbers , uint 32 _t by )
-1 |t say ( f " weighted label sum = { self . weighted_labels . 6 f } " )
1 |t cdef const float * x = e . x
-1 |t from vwlite . core . data . class_names import Names as ClassNames
1 |t cdef double u = fabs ( v ) + self . shift , old = fabs ( s . u )
-1 |t f " { smaller } scale the features "
-1 |t def _set_range ( learner Learner , model Model ) - > None
-1 |t from vwlite . vw . arguments import parse
-1 |t weights [ i ] = remainder ( w , edge )
1 |t value = z * Logistic . judge ( self , p , 1 , slope )
-1 |t s . update ( e . held , labelled , loss , e . weight , e . features )
1 |t l 1 ball , to a few digits of the distance from Theta so the heap seldom moves them . It is a radix heap as there , from the largest Theta on ; what comes below that , when Theta has fallen , goes
-1 |t out = array ( " f " , bytes ( 4 * width * len ( columns [ 0 ] ) ) )
-1 |t out . append ( f " expert_state size = { len ( self . experts ) } \ n " )
-1 |t name = names [ i ] . decode ( " utf - 8 " , " surrogateescape " )
-1 |t elif self . line [ self . at ] = = 58
1 |t bits - = ( WIDTH * by ) < < 52
1 |t g . size = 0
-1 |t " " " The fields of a slot that are kept in the model , with the format of their memoryviews . " " "
1 |t cdef void unpack ( self , const Arrays * a , size_t line , double * label , double * importance ) noexcept nogil
1 |t batch . a . tag_begin = < uint 32 _t * > ( base + at )
-1 |t z = e . label * e . prediction
-1 |t f " the temporary cache in { folder } cannot be written { e . strerror } ; several passes keep "
1 |t constant = v . w [ i ] * ( delta + sqrt ( v . constant . S + g * g ) ) - eta * g
-1 |t def view ( self , begin int , end int ) - > memoryview
-1 |t model = read_rest ( header , source , len ( s . fields ) )
1 |t if unlikely ( batch . a . lines + 1 > = batch . line_capacity ) and batch . reserve ( 1 , 0 , 0 , 0 )
-1 |t keys = array ( " I " , self . keys [ there ] . astype ( np . uint 32 ) . tobytes ( ) )
-1 |t def default_of ( a " Algorithm " , name str ) - > str
1 |t cdef inline const char * find ( const char * p , uint 8 _t ends ) noexcept nogil
-1 |t def get_metavar ( self , param click . Parameter , ctx click . Context None = None ) - > str
-1 |t self . loss = a . get ( " loss_function " , " squared " )
-1 |t if " invert_hash " in a and cache is not None
1 |t # Not plain . There may be more of the kind , so several lines go the other way .
1 |t self . keys [ i ] = ( ( self . bases [ i ] + model ) & self . mask ) > > shift
1 |t raise ValueError ( f " { floats . shape [ 0 ] } floats are not { width } for each of { n } keys " )
1 |t s . u = self . shift
1 |t Logistic . judge ( self , p , 1 , & up )
-1 |t points = points [ order ]
-1 |t return " gzip " , zlib . decompressobj ( wbits = 31 )
1 |t self . maker = PieceMaker ( expander , self . table )
-1 |t self . low , self . high = 0 . 0 , 1 . 0 # the labels seen , widened from these
-1 |t data = write_binary ( self . model ( ) , self . learner . saved_bytes ( ) )
1 |t self . note_label ( o . label )
1 |t cdef double walk ( self , const Slot * s ) noexcept nogil
-1 |t state . update ( {
-1 |t self . last = - 1 # the number of the last example learned
1 |t raise MemoryError ( " no memory for the probabilities " )
1 |t cdef struct Gathering
-1 |t " freegrad " ( " w " , " G " , " V " , " h 1 " , " h " , " S " ) ,
-1 |t keys = self . held . setdefault ( right , [ ] )
-1 |t index = feature_hash ( feature , namespace , hash_all = model . settings . hash = = " all " )
-1 |t " - l 1 e - 3 - - period 100 - - threshold 0 . 01 " ,
-1 |t if isnan ( x ) and copysign ( 1 . 0 , x ) < 0 # as C prints it
1 |t " " " Slots of a model as the table must have them from the beginning , so that it does not forget them . " " "
-1 |t self . streams . error ( f " The label ' { e . label . 9 g } ' is not - 1 or 1 as loss function expects . " )
1 |t double * areas
-1 |t at + = size
-1 |t s , layer = run . setup , run . learner
-1 |t def _print_head ( self ) - > None
1 |t cdef inline void count ( self , double new , double old ) noexcept nogil
-1 |t _COMMENT = b " vwlite blake 2 b = % s "
-1 |t e . batch , e . line = kept , len ( kept ) - 1
-1 |t one . model = model
1 |t cdef float * N = visits . N
1 |t cdef const char * begins [ WORDS ]
-1 |t head + = more
1 |t uint 32 _t scramble " vwlite_scramble " ( uint 32 _t k ) noexcept nogil
1 |t " " " The weight for v = 1 . " " "
-1 |t LARGEST = 1000 . 0 # a multiplier by itself is at most this
-1 |t self . streams , self . dropped , self . mask = s . streams , s . dropped , ( 1 < < s . bits ) - 1
1 |t memmove ( c . marks , m , ( last - m ) * sizeof ( uint 32 _t ) )
-1 |t low , high = map ( to_float , model . range or ( - 3 . 4028234663852886 e 38 , 3 . 4028234663852886 e 38 ) )
-1 |t self . _keys . extend ( keys )
-1 |t " " " Multiplies the importance by the weight of the class . " " "
-1 |t self . _lock = self . _acquire ( )
-1 |t winner = other
-1 |t self . main . select ( model )
1 |t if repeated and s . at ! = i
-1 |t def write ( self , data " memoryview " , / ) - > int # type ignore [ override ]
-1 |t def __init__ ( self , path str ) - > None
-1 |t return _not_a_number ( code , line , begin , end )
1 |t " " " The mean of the weights of the l 1 ball
-1 |t elif self . holdout_period
1 |t uint 64 _t bits ;
1 |t if slots [ i ] . place
1 |t cdef double by , u , new , shift = self . shift , scale = self . scale , to_fine = self . to_fine
-1 |t error ( f " label feature vectors should have exactly one cost on { shown } " )
-1 |t for n in range ( 2 , min ( longest , count ) + 1 )
1 |t h = vwlite_turn ( h ^ * p * VWLITE_P 5 , 11 ) * VWLITE_P 1 ;
1 |t of the stream . The learner reads names meanwhile , but only those of lines that it was given ; these never move or change .
-1 |t ( " weighted_labeled_examples " , " < d " ) , ( " weighted_labels " , " < d " ) , ( " weighted_unlabeled_examples " , " < d " ) ,
1 |t " " " The base K rules in one table . Its state is a list of K where that of a rule is a number .
1 |t out [ i ] = copysign ( x if x > 0 else 0 , 1 if simplex else v [ i ] )
-1 |t others = NEEDS . get ( name ) or QUIETLY_NEEDS . get ( name )
1 |t feature ' s hash is then that of its namespace plus k , for the k - th ( from 0 ) nameless feature of the
-1 |t p = e . initial + sum ( stable . get ( key , 0 . 0 ) * x for key , x in zip ( keys , values , strict = True ) )
1 |t w_i = 0 if z_i < = l 1 , else - ( z_i - sgn ( z_i ) l 1 ) / ( ( beta + sqrt ( n_i ) ) / alpha + l 2 ) ,
-1 |t from vwlite . vw . models . convert import to_vw
-1 |t from vwlite . output . atomic import AtomicFile
1 |t arrays [ 11 ] = a . tags
-1 |t self . written = 0 # files
1 |t return trouble_at ( trouble , SCALE_LARGE , begin , p )
-1 |t first = self . line [ self . at ]
-1 |t outputs [ " - - model " ] = o . model
1 |t The cumulative gravity A_t = sum of eta_s K l 1 over s < = t with K s is one global number ; a slot
1 |t def __init__ ( self , loss , * , double l 1 = 0 , double round_at_end = 0 , * * schedule )
-1 |t learner . learn ( e )
-1 |t digest = hashlib . blake 2 b ( name , digest_size = _DIGEST ) . hexdigest ( )
-1 |t lambda stop tasks ( sources , options , stop ) ,
1 |t self . active + = 1
-1 |t cache = cache , kill_cache = a . flag ( " kill_cache " ) , bits = s . bits , shape = self . shape ,
-1 |t " " " Write a model into a file that was begun ; the caller commits it .
-1 |t return int ( rest . split ( ) [ 0 ] ) * 1024
1 |t if self . negative = = NULL or self . positive = = NULL
1 |t # The arrays of a batch , in the order in which they lie in memory and in the cache .
1 |t cdef int lines ( self , const char * p , const char * end , size_t offset , size_t skip , Batch batch ) noexcept nogil
-1 |t if not skip_faults
-1 |t help h bool show this
1 |t for ( size_t i = 0 ; i < n ; i + + ) { \ \
1 |t " " " Stochastic gradient descent w < - w - eta_t g , eta_t = rate * decay * ( t + t 0 ) ^ - power_t .
-1 |t if settings . oaa is None
-1 |t self . increment = base . increment * base . width # models between two of the base
-1 |t return words [ 1 ]
-1 |t block . data = _first_lines ( bytes ( block . data ) , left )
1 |t m = m * 100000000 + decimal ( word )
-1 |t " " " A line that the parser refused . " " "
-1 |t if times = = 1 or self . permutations
-1 |t if path is None or ( path ! = " - " and os . path . exists ( path ) and not os . path . isfile ( path ) )
-1 |t attached str None = None
-1 |t " " " The learner its table of weights , the protocol of rules , losses , counters . " " "
-1 |t s . output , s . multiline , s . multi = " SCALARS " , True , top . group
-1 |t gap = abs ( values [ j ] - values [ i ] )
1 |t An entry is a rank , an integer by which the queue is ordered , and a key , which says whose rank it is . ` last ` never
1 |t if p [ 0 ] = = c ' ' or p [ 0 ] = = c ' \ t '
1 |t vwlite . input . diagnostics . BadLine ; at most ` limit ` of them . " " "
-1 |t def plain ( self ) - > bool
-1 |t " spanner_c squarecb swap_resistance synthcover synthcoverpsi synthcoversize target_rate thread_pool_size "
-1 |t self . t = 0
1 |t cdef Fault * fault
-1 |t self . slots [ ] = source . take ( len ( self . slots ) )
-1 |t if len ( arguments ) ! = 2 or arguments [ 0 ] ! = " - - args "
-1 |t facts = describe ( model , read_model ( model ) )
1 |t # A cast drops the low 29 bits of the fraction ( more below FLT_MIN left to strtod ) .
1 |t " " " Fresh , empty memory for so many slots ; - 1 if there is none , and all is as it was . " " "
1 |t AHEAD = 512 # numbers of a batch that should be there before they are needed
1 |t elif c ' 0 ' < = at [ 0 ] < = c ' 9 '
1 |t " " " Throw the stale entries out , and those that stand twice . " " "
-1 |t self . learner . needs_label = self . shares and run . learner . probabilities and run . holdout
1 |t if self . active = = before
1 |t def __init__ ( self , bytes letters = b " " , groups = ( ) )
1 |t dropping the active u that this leaves behind , which are at the head of a queue . Each was added once .
-1 |t def _after_batch ( self , done int , total int None ) - > None
-1 |t statistics . advance ( run . step , run . factor )
1 |t self . moved = 0
1 |t A the average of sum of ( x / m ) ^ 2 over the examples . Orabona , Tommasi . Training Deep Networks without Learning Rates
1 |t CLIPS = False # whether predictions are clipped to the range of labels seen
-1 |t regularizer = Regularizer ( a . get ( " l 2 " , 0 . 0 ) )
-1 |t mode = stat . S_IFREG
-1 |t self . k , self . errors = k , errors
-1 |t if pairs ! = [ ] and not _is_object ( pairs )
-1 |t " " " Slots and floats for a file u is w ; r grows by the inverse preconditioner , again with every file written . " " "
1 |t cdef size_t line , last = batch . a . lines if end is None else end
1 |t uint 32 _t mark
1 |t self . gathered + = 1
1 |t every line of the rest has the others behind it . Each line ends with LF then , and no loop below looks
1 |t cdef const char * p = name
-1 |t oaa = many . Oaa (
1 |t decided with it of a pivot that is too small the paper only takes one index out , and is quadratic when many tie .
-1 |t self . _write ( warns = True )
-1 |t _features = _several (
1 |t cdef inline void note_label ( self , double label ) noexcept nogil
1 |t s . z , s . inverse = v . z [ i ] , v . inverse [ i ]
-1 |t " on - error " o . on_error ,
-1 |t NO_LABEL = 3 . 4028234663852886 e 38 # Vowpal Wabbit ' s number for it
1 |t self . places [ at ] = found = < uint 32 _t > distinct
1 |t def __init__ ( self , double low = - 1 , double high = 1 )
-1 |t " " " Vowpal Wabbit ' s ways of writing examples and labels . " " "
-1 |t s . header_lines + = [
1 |t cdef int write ( self , const char * text , size_t size ) noexcept nogil
-1 |t _passes = _several (
-1 |t return self . holdout_loss_since_pass / weight if weight > 0 else float ( " nan " )
-1 |t from vwlite . algorithms . build import make_names
-1 |t raise Refused ( f " - - { batch } with - - { name } " )
1 |t others have paid for it .
1 |t def gather ( self )
-1 |t if self . held is None or self . held . average is None or held . average < self . held . average
1 |t greater = less = 0
-1 |t raise NoInputError ( f " { path } { e . strerror } " ) from e
1 |t from libc . math cimport INFINITY , NAN , exp , isnan
1 |t double area ) noexcept nogil
1 |t # counts , and the counts of spans and features may be too high ` one_by_one ` sets them back .
1 |t values + = [ expander . f . values [ i ] for i in range ( expander . f . size ) ]
1 |t self . fault_capacity = want
-1 |t " " " Say what is kept , which Vowpal Wabbit does whenever it reads or writes a model . " " "
-1 |t " " " What ` stored ` gave , as JSON has it . Nothing is checked ; ` vwlite / model / header . py ` does . " " "
-1 |t names = { letter ( e . names or { } ) . get ( letter ) or [ b " " ] * count for letter , count in counts . items ( ) }
-1 |t " < Q 6 f " , key , one . regret , one . size , one . weight , other . regret , other . size , other . weight
-1 |t def check_file ( path str , options " ParseOptions " ) - > bool
1 |t float N # the largest x seen
-1 |t " " " Let the experts vote , the linear model among them ; remember what their mixture loses . " " "
-1 |t if reason in ( Reason . DONE , Reason . STOPPED )
1 |t cdef double cut # the model leaves out smaller weights , and those of this size with larger keys
1 |t sum = sum * r + 1 / 6 . 0 ;
-1 |t self . learner . bottom . stepper . stop ( )
-1 |t def check_header ( header dict [ str , Any ] ) - > None
1 |t while self . places [ at ] ! = 0
1 |t largest = max ( largest , fabsf ( part . x [ i ] ) )
1 |t cdef char * base
1 |t cdef void adapt ( Visit * visits , Slot * * slots , const float * x , size_t n , float g 2 , Sums * sums ) noexcept nogil
1 |t digits = lowest ( window ) if window else 8
-1 |t size = int ( kind [ 2 ] )
1 |t factor * = - delta * ( self . p - k ) / ( k + 1 )
1 |t uint 64 _t marks = ( ~ ( ( ( w & VWLITE_EACH ( 0 x 7 F ) ) + VWLITE_EACH ( 0 x 7 F - 0 x 20 ) ) w ) & VWLITE_EACH ( 0 x 80 ) )
1 |t from libc . math cimport copysign , fabs , floor , rint
1 |t link = " identity " , Names names = None , bint probabilities = False , bint short = False )
-1 |t def _write_error ( self , e OSError ) - > WriteError
1 |t " " " S in units of scale / 2 ^ 50 . " " "
1 |t if o . loss < = 0
-1 |t " " " The nearest point to v on the simplex { w > = 0 , sum w_i = z } w_i = max ( v_i - theta , 0 ) .
-1 |t return self . _kind , None
-1 |t for name in (
1 |t # - - - of an example that comes in pieces a list of its features , each once
-1 |t " " " Show everything that MODEL knows about itself options , counters , state , size . " " "
-1 |t cubic - list [ str ] keep cross three namespaces by their first letters
1 |t __m 512 i at = _mm 512 _add_epi 32 ( places , _mm 512 _set 1 _epi 32 ( ( int ) ( begin - base ) ) ) ;
1 |t from cpython . exc cimport PyErr_CheckSignals
-1 |t " " " The whole number that most of the predictions round to , as Vowpal Wabbit finds it .
1 |t self . sum = 0
1 |t return copysign ( size if size > 0 else 0 , c . u )
-1 |t seed = f . hash ( name , f . hash_seed ) if name else 0
-1 |t " ccb_no_slot_index challenger_epsilon choices_lambda clip_p constant_epsilon corrupt_prob_warm_start "
1 |t The two begin as one and are multiplied by f and 1 / f the slot keeps v + = v , and v - = 1 / v . With
1 |t self . leave_duplicates , self . permutations = leave_duplicates , permutations
1 |t def elapsed ( self )
-1 |t self . regret = to_float ( self . regret + regret * importance )
-1 |t reason = learner . reason
1 |t return found + 1
-1 |t word , _ , features = line . replace ( b " \ t " , b " " , 1 ) . partition ( b " " )
1 |t both = s . V + s . h * size
-1 |t A message is a sentence for the person at the shell where , what is wrong , and what to do .
1 |t other . a . feature_begin [ first_span + i ] - first_feature + self . a . features )
1 |t out [ size + i ] = 48 + < char > ( decimals % 10 )
1 |t follow ( e . size , e . x , step , self . inverse_alpha , self . beta , self . l 1 , self . l 2 , c . z , c . root , c . w )
1 |t # A bad line , or features to be left out once more , one by one .
-1 |t if not ( self . arguments . flag ( " probabilities " ) and self . setup . kind in ( " MULTICLASS " , " CS " ) )
-1 |t e . weight = weight # else that of the last class counts , as in Vowpal Wabbit
-1 |t e . model + = i * self . increment
1 |t self . maker . raise_error ( )
-1 |t lines list [ Current ]
1 |t raise IndexError ( f " indices go from 0 to { self . n - 1 } " )
1 |t v . repeated = repeated
1 |t cdef size_t begin = self . a . feature_begin [ first ] , to = begin , at = first , i , j , size
1 |t value = a . value + a . feature_begin [ first ]
-1 |t def make_interactions ( a Arguments , s Setup ) - > None
1 |t s . u = copysign ( u , s . u )
-1 |t del found [ " average loss " ]
-1 |t " w_i < - - sign ( G_i ) ( eta_t t / H_i ) max ( G_i / t - l 1 , 0 ) , G = sum of g , H = delta + sqrt ( sum of g ^ 2 ) " ,
1 |t raise ValueError ( " a sum of squares is negative " )
1 |t slots [ i ] . S = v . S [ i ]
1 |t key = keys [ i ]
1 |t slope + = c . a * c . a
1 |t cdef void learn ( self , const Example * e , double step ) noexcept nogil
-1 |t def fast_exp ( x float ) - > float
1 |t const uint 32 _t * restrict length , float * restrict value ) {
1 |t return ( < const Slot * > slot ) . w
-1 |t def _list ( x Any ) - > list [ Any ]
1 |t " " " Count the features of the line that the model does not know ; they come before the interactions . " " "
1 |t Duchi , Shalev - Shwartz , Singer , Chandra . Efficient Projections onto the l 1 - Ball . ICML 2008 ; section 6 , with another
-1 |t put ( entry . encode ( " latin - 1 " ) [ 2 ] . ljust ( 3 , b " \ 0 " ) )
-1 |t return predict ( options )
-1 |t # Options of the algorithms that have a learning rate .
-1 |t length + = len ( partial [ - 1 ] )
-1 |t # The help of ` train ` begins with the algorithms that an option is for .
-1 |t ( " radius " , " smidas " ) " its strength is - - l 1 " ,
-1 |t _CHUNK = 1 < < 22 # bytes that are written at a time
1 |t self . table = rule . table
1 |t s . V + = cut * cut + more * ( g * g )
-1 |t from dataclasses import asdict , dataclass
1 |t return sqrt ( self . weight_sum / self . norm_sum )
-1 |t " J . Duchi , S . Shalev - Shwartz , Y . Singer , T . Chandra . Efficient Projections onto the l 1 - Ball for Learning in High "
1 |t cdef double low = - INFINITY , high = INFINITY
-1 |t ( " l 1 " , " delta " , " nonzeros " ) ,
1 |t SMALLEST = 1024
-1 |t def format_row ( row Row ) - > str
-1 |t keys , ( _ , values ) = stepper . keys_of ( e . model ) , stepper . features ( )
-1 |t def text ( self , names dict [ int , bytes ] None ) - > str
1 |t elif s . since = = 0
-1 |t test bool = False # only predict
1 |t if s . N > 0
1 |t SCALARS = [ " t " , " shift " , " scale " ]
-1 |t " " " Show the state , if the last time is long enough ago . done , total bytes of input . " " "
1 |t self . follow ( )
1 |t cdef inline void settle ( Sum * sum ) noexcept nogil
1 |t name scalars [ f " { name } _ { k + 1 } " ] if isinstance ( own , memoryview ) else scalars [ name ] [ k ]
-1 |t def _columns ( model " Model " ) - > list [ str ]
1 |t if s . z = = 0 or bits_of ( < float > s . bound ) ! = entry . rank
1 |t self . note_label ( label )
1 |t return self . _view ( self . a . hash , self . a . features , 4 , " I " )
-1 |t elif type ( value ) is bool
-1 |t say ( " \ nfinished run " )
-1 |t chosen int None = None
-1 |t raise CacheUnusable ( " it is not a cache of vwlite " )
1 |t self . known_keys [ i ] = a . distinct_hash [ i ] & self . expander . mask
1 |t " " " Drop every cell of the queue that a shift leaves behind . " " "
1 |t self . settings . seed = hash_seed
1 |t self . negative [ bin_of ( p ) ] + = importance
1 |t cdef double * high # owned , [ K ]
1 |t elif self . l 1 ! = 0
1 |t self . _of_first ( " weight_sum " , value )
1 |t return self . score ( e , False )
-1 |t typed = self . options . loss is not None
-1 |t after Polak and Ribiere , restarted where beta is negative ) .
1 |t if count = = before or count = = 0
-1 |t " " " A line of predictions the tag behind a space , if there is one . " " "
1 |t uint 32 _t seed # hashes the names of namespaces
-1 |t raise UsageError ( f " - - feature - weights the model { o . initial } keeps those that it began with leave it out " )
-1 |t from vwlite . vw . messages import Streams , short
-1 |t _option ( " - - hash " , group = _FEATURES , type = click . Choice ( [ " strings " , " all " ] ) , show_default = " strings " ,
1 |t " " " What a feature is in S u , or a ^ 2 u . " " "
1 |t slot = near_home ( slots , self . stride , self . shift , mark )
-1 |t for rule in self . classes . rules if self . classes is not None else [ self . rule ]
1 |t cdef uint 32 _t * keys # owned ; . . . and which they are
1 |t double g = slope * x [ i ] , H , moved ; \ \
1 |t if self . known = = NULL or self . known_keys = = NULL
1 |t cdef uint 32 _t [ 1 ] sums = out
1 |t uint 32 _t c = ( uint 32 _t ) more [ i ] , d = ( uint 32 _t ) ( more [ i ] > > 32 ) ;
-1 |t begin = _first_bytes ( path , 16 )
-1 |t def mask_space ( space Space , bits int ) - > None
-1 |t " " " All arrays , by their names in the file . " " "
1 |t cdef void * rule # its first argument ; borrowed
1 |t piece = Piece . __new__ ( Piece )
1 |t if ( line + 1 < a . lines and a . kind [ line + 1 ] = = EXAMPLE
1 |t initial = blank
1 |t float S # sum of g / h
-1 |t if self . blank
-1 |t elif a . flag ( " normal_weights " ) or a . flag ( " truncated_normal_weights " )
1 |t if self . find ( name , len ( name ) )
-1 |t elif self . _direct
-1 |t self . _tell ( run , group )
-1 |t self . name = display_name ( source )
1 |t " " " The weights of the model , of slots as ` slots ( ) ` gives them at most N of them are not zero . " " "
1 |t double m # v = m 2 ^ ( 10 block ) ; 0 never touched , as v = 1 . The constant w itself
-1 |t self . _rejects . write ( b . text . rstrip ( b " \ n " ) + b " \ n " )
1 |t slots = < Slot * * > part . slots
1 |t out = bytearray ( n * stride )
1 |t cdef public double largest # R has been , since it was made anew
-1 |t return str ( value )
-1 |t if word . startswith ( " - - " ) and len ( word ) > 2
1 |t cdef double plain = eta * steep
1 |t powers ( u , self . p - ( self . terms - 1 ) , u , n )
-1 |t def _begin ( self ) - > None
-1 |t def __init__ ( self , path str os . PathLike [ str ] ) - > None
1 |t return max ( min ( norm , self . radius ) * factor , SMALLEST_RADIUS )
1 |t return vwlite_find_marks_ 512 ( base , begin , end , marks , room , reached ) ;
1 |t if begin ! = p
-1 |t threshold float None = None
1 |t DEPTH = 10 # blocks of which V is made
1 |t self . list [ self . waiting ] = s
-1 |t " " " Decides at the end of each pass what the next one is for .
1 |t from libc . stdlib cimport realloc
1 |t from libc . math cimport exp , log , log 1 p
1 |t s . V + = importance * ( g * g ) # and once more below , as Vowpal Wabbit does
1 |t found [ " min_label " ] = [ self . low [ k ] for k in range ( self . classes ) ]
1 |t if any ( not 2 < = len ( pattern ) < = MOST_TERMS for pattern in self . patterns )
-1 |t self . say ( f " { weights . conjugate ( ) f } \ t " )
1 |t cdef Slot slot = Slot ( 0 , 0 , < float > self . schedule . initial_t , 0 )
1 |t others = bad ;
1 |t s . n + = fabsf ( g )
-1 |t namer Any = None # knows the names of features , if they are wanted
1 |t sum + = s . u * x [ i ]
-1 |t # What is blank tells nothing yet from a pipe , it may come long before the first line .
-1 |t " as pa , with steps of limited size " ,
-1 |t everything , self . opts = self . opts , self . _shown
1 |t cdef Example chunk
-1 |t votes = [ floor ( p + 0 . 5 ) if isfinite ( p ) else p for p in found ]
-1 |t They hold a few batches at most ; the consumer gets them in stream order , so the result is bit for bit that
1 |t if coordinates = = NULL
1 |t repetition ( f * f too ) , each once .
-1 |t from vwlite . runs . train import parse_options
-1 |t signals = StopSignal ( )
-1 |t for label in labels
-1 |t if self . counts
1 |t heavy ones , stand in a list ( and those near to them , so that it does not change with every step ) .
-1 |t " matter . Say how many features there are with - - features ; else those seen so far count , and stay in the "
-1 |t along = rows . times ( weights . d ) # with the initial predictions a slip that Vowpal Wabbit ' s runs show
1 |t self . settle ( < AveragedSlot * > s )
-1 |t self . _handled = { s for s in STOPPING if signal . getsignal ( s ) is not signal . SIG_IGN }
-1 |t seed = f . hash ( space , f . hash_seed ) if space else 0
-1 |t however much work a byte of text makes for either side .
-1 |t self . weights = self . _freeze ( )
-1 |t if len ( several ) > 1
-1 |t if self . _direct and self . _written and not os . path . samefile ( self . name , os . devnull )
-1 |t out . append ( f " - - { name } " if value else " " )
-1 |t if checksum ( text ) ! = sum_of_it
-1 |t Data only , needed by nobody who learns . The formulas are those of the papers with the
1 |t batch . a . kind [ i - 1 ] = kind
1 |t return self . rules [ 0 ] . gravity
1 |t self . low [ k ] , self . high [ k ] = begin
1 |t def terms ( self )
-1 |t if not is_ascending ( found . slots )
1 |t self . runs [ a . letter [ span ] ] . size = 0
-1 |t " " " Take the line away , so that something else can be printed . " " "
1 |t if ( < Head * > slot ) . mark = = self . constant
1 |t " " " Count a feature no more , and have it wait . " " "
1 |t cdef uint 64 _t dropped = 0
-1 |t s . sum_loss + = learner . unlabelled_weight - s . weighted_unlabeled_examples
-1 |t if not ( math . isfinite ( negative ) and math . isfinite ( positive ) ) or negative = = positive
1 |t return s . z = = 0 and s . root = = 0 and s . w = = 0
1 |t size_t distinct # hashes , if they are numbered ; else 0
-1 |t if self . _domain is not None
1 |t p = close_line ( batch , REJECTED , next )
-1 |t value = 0 . 0
-1 |t self . _sign ( e )
-1 |t raise UsageError ( f " { option } { path } is { read [ identity ] } , which it would overwrite " )
1 |t if number [ 0 ] = = 0 and self . grows and self . count < self . room
-1 |t for line in range ( begin , len ( batch ) if end is None else end )
1 |t o . label = 1 if k + 1 = = label else - 1
-1 |t def _collect ( kind type [ Any ] , f Callable [ [ Any ] , int ] ) - > Callable [ . . . , int ]
-1 |t " " " A feature ' s name and weight ; ValueError says what is wrong . " " "
1 |t A block is any buffer that begins with a line ; its last line may lack the LF . Where
-1 |t self . at = 0
-1 |t scalars = { " t " 0 , " unseen " 0 . 0 } model . rule
1 |t self . rise ( block )
-1 |t " " " Write every model that was asked for . " " "
1 |t step = self . loss . invariant_step (
1 |t Kivinen , Warmuth . Exponentiated Gradient versus Gradient Descent for Linear Predictors . Information and
-1 |t self . testing = s . arguments . flag ( " testonly " )
-1 |t " " " The place of the constant ; None if there is none . Layers above may have put features behind it . " " "
-1 |t for e in best
1 |t arrays [ 8 ] = a . value
1 |t double root # sqrt ( n ) , n the sum of g ^ 2
-1 |t @ click . option ( " - - to " , " kind " , cls = Option , type = click . Choice ( [ " vw " ] ) , required = True , help = " The format to write . " )
-1 |t leave_duplicates = a . flag ( " leave_duplicate_interactions " ) , permutations = a . flag ( " permutations " ) ,
1 |t decimals / / = 10
-1 |t with np . errstate ( invalid = " ignore " )
-1 |t return cls ( array ( " f " ) , array ( " f " ) , array ( " b " ) , array ( " b " ) )
-1 |t raise Critical ( f " malformed affix argument ( length must be 1 . . 7 ) { word } " , " parse_args . cc " , 230 )
-1 |t return f " every example { what } there was nothing to tell apart "
-1 |t adaptive - bool keep rates of their own for features that were seen often
-1 |t data = decompressor . unconsumed_tail
1 |t if unlikely ( s . wary and p ! = line )
-1 |t self . step = 1 . 0
-1 |t return struct . unpack ( " f " , struct . pack ( " f " , x ) ) [ 0 ] # type ignore [ no - any - return ]
-1 |t " As adagrad , by regularized dual averaging a weight follows from the sum of all its gradients , and is zero "
-1 |t def _predict ( self , run Any , group Group ) - > None
-1 |t biases = [ self . _single ( self . bias , self . bias_key , model ) for model in models ]
-1 |t if version < CROSSINGS_AMONG_OPTIONS
-1 |t s . weighted_labels + = e . label * e . weight
-1 |t self . _check_replaceable ( )
-1 |t if len ( a . positional ) > 1
-1 |t f ' Invalid namespace value " { rest } " read as NaN . Replacing with 1 . { self . _where ( ) } '
-1 |t won . append ( False )
1 |t " " " Learn from an example that was predicted and judged . " " "
-1 |t With classes index , class , weight .
-1 |t self . features + = self . _linear ( e )
-1 |t if " oaa " in a
1 |t / * mask all ones or all zeros . * /
1 |t " " " Names that came after so many are of lines that do not count , or are parsed again . " " "
1 |t return trouble_at ( trouble , PAIR , p , end )
-1 |t if self . first_label is None
1 |t def __cinit__ ( self , list rules not None , * , begin = ( 0 . 0 , 0 . 0 ) )
-1 |t " " " The system allows no more of something open files , threads . " " "
-1 |t for ( y , s , rho ) , alpha in zip ( reversed ( self . steps ) , reversed ( alphas ) , strict = True )
1 |t p = next
1 |t shown = self . rule . predict ( & e )
1 |t g , before = step * part . x [ i ] , s . root
-1 |t if math . isnan ( x ) or below or above or ( math . isinf ( x ) and not self . infinite )
-1 |t if begin = = b " "
1 |t tag , tag_size = tag + i , tag_size - i
-1 |t def _scale ( self ) - > float
1 |t void prefetch_line " vwlite_prefetch " ( const void * address ) noexcept nogil
-1 |t for name , ( old , new ) in self . resolved . changed . items ( )
1 |t cdef uint 64 _t drop_below ( self , double shift ) noexcept nogil
1 |t cdef int 128 sums [ WINDOW ] # of m 2 ^ 52 , at block % WINDOW
-1 |t " " " Report the count ; called when the stream is at its end . " " "
1 |t if s . since = = WAITING # it stands twice
-1 |t if not self . _own
1 |t # The loops below have no branch that depends on the data , as it would be a coin toss ; and several sums , as additions
1 |t if s . m > 0
-1 |t raise ValueError ( f " its header cannot be read { e } " ) from e
1 |t cdef bint large = False
-1 |t if self . options . model
1 |t SLOT = [ ( " mark " , " < u 4 " ) ] # the fields of the slot struct
-1 |t parts + = _section ( " Refuses " , refusals ( a , p . refuses ) )
-1 |t several = [ name for name in CLASSES if name in a ]
-1 |t " that large weights grow faster than small ones . For data with many features in each example of which few "
1 |t rounding once , so a slot only remembers how many roundings there had been at its last touch if there
-1 |t labels . held_log_loss + = held . surprise
1 |t cdef char digits [ MOST_DIGITS + 32 ]
-1 |t self . base . predict ( e )
1 |t and in C , so that columns . pyx can hash many names at once .
-1 |t p = to_float ( max ( 1 . 442695040 * x , - 126 . 0 ) )
1 |t and loops over the columns hash and read them , many at a time ( columns . pyx ) . Lines that are not
-1 |t for i in range ( circuit . height )
-1 |t for h , x , name in zip ( space . hashes , space . values , space . names , strict = True )
1 |t self . tidy ( )
-1 |t stepper . set ( [ self . key ] , [ 1 . 0 ] )
-1 |t " " " ` 2 ` , ` a 2 ` , ` a 5 ` numbers by namespace ; 0 stands for all . " " "
1 |t self . shift = self . t * self . l 1
-1 |t def tasks ( sources Sequence [ str ] , options ParseOptions , stop Callable [ [ ] , bool ] ) - > Iterator [ Task ]
1 |t self . f . numbers = NULL
1 |t # if defined ( __x 86 _ 64 __ ) & & defined ( __GLIBC__ ) & & defined ( __GNUC__ ) & & ! defined ( __clang__ ) \ \
-1 |t @ click . option ( " - - all " , " everything " , cls = Option , is_flag = True , help = " All weights , those that are zero too . " )
-1 |t def _labels ( self ) - > str
1 |t cdef inline bint is_close ( double x , double y ) noexcept nogil
1 |t slot = self . taken ( mark )
-1 |t s . say ( f " Reading datafile = { self . data_name } " )
1 |t # 0 to 7 bytes are left . Whether 4 of them are a block is a coin toss no branch , and none that
-1 |t self . marginals [ key ] = source . number ( " < d " ) , source . number ( " < d " )
1 |t self . min_label = min ( self . min_label , label )
-1 |t " oaa_subsample " , " raw_predictions " , " l 1 " , " l 2 " , " feature_mask " , " constant " ,
1 |t cdef readonly size_t piece # features of a piece ; even
1 |t return - ( p - log ( y ) ) / h
1 |t " " " Bring the accounts of features up to the example that is being learned . " " "
1 |t S = self . matrix ( )
-1 |t name = " stage_poly "
-1 |t def version_of ( text str ) - > Version None
1 |t return e . slots [ e . size - 1 ] if e . pieces = = NULL else e . pieces . constant + e . pieces . offset
-1 |t sources Sequence [ str ] ,
-1 |t " " " What is done to an example after parsing the options that a cache does not hold . " " "
-1 |t with suppress ( OSError ) # what was read is read
1 |t return copysign ( sum , s . slot . z ) * s . slot . inverse
1 |t y = a . label [ i ]
1 |t if fabs ( v ) > = 9007199254740992 . 0 # 2 ^ 53 from here on all are integers
1 |t cdef public double unlabelled_weight
1 |t if part . size > self . capacity and self . grow ( 2 * part . size )
1 |t if self . rule . out_of_memory
-1 |t held = self . held or ( learner . holdout if learner . holdout . weight else None )
-1 |t range tuple [ float , float ] None # to which predictions are clipped
-1 |t space . values . append ( value )
-1 |t e . partial = float ( terms . cumsum ( dtype = np . float 32 ) [ - 1 ] )
-1 |t _open_files . add ( self )
-1 |t # The next member may be cut up by the reads ; padding of zeros may come before it or at the end .
1 |t const double * w , double * z , double * S , double * inverse ) noexcept nogil
1 |t if not 0 < = s . last < = self . t
-1 |t e . weight = float ( 1 < < ( circuit . height - i - 1 ) )
1 |t self . model = 0
-1 |t batch . append ( 0 , nan , 1 . 0 , 0 . 0 , b " " , spans )
1 |t if self . predictions . end_line ( tag , tag_size )
-1 |t class TrainOptions ( InputOptions )
1 |t first , limit = i , self . capped [ i ] . u - self . box / s . a
1 |t cdef int k
-1 |t from vwlite . vw . arguments import OPTIONS , Arguments
-1 |t out . append ( f " { _called ( slot , names , True ) } { slot } { show ( w ) } \ n " )
-1 |t loss enough ( the first Wolfe condition , with 0 . 01 ) is halved .
-1 |t from vwlite . input . cache import CacheUnusable , open_cache
-1 |t " 1 . "
1 |t self . f . values [ self . f . size ] = self . a . value [ i ]
1 |t if first and size > = 3 and memcmp ( data , b " \ xef \ xbb \ xbf " , 3 ) = = 0
1 |t d [ 2 * k + i ] = w
1 |t " " " Losses l ( p , y ) the value , the derivative dl / dp , and the importance - aware step .
1 |t if self . known = = NULL
1 |t o . p = self . clipped ( self . scores [ k ] )
-1 |t self . flush ( )
-1 |t if isnan ( e . partial )
-1 |t from vwlite . options . resolve import check_together , option_name
-1 |t return 1 / bias if self . setup . random . next ( ) < bias else - 1 . 0
-1 |t class Print ( Noop )
-1 |t values = model . floats [ i * model . width ( i + 1 ) * model . width ]
-1 |t wants_names bool = False
1 |t at [ depth ] = begin
-1 |t interrupted bool = False
-1 |t a . values . pop ( " l 1 " , None ) # which Vowpal Wabbit takes there , and does not use
-1 |t refuses = " More than 4 , 096 features end the run ( exit code 65 ) use adagrad . " ,
-1 |t whole . clear ( )
-1 |t theta = low if square = = 0 else ( ( a * size ) [ inside ] . sum ( ) + rest - z ) / square
1 |t cdef public size_t active # rho
1 |t size_t holdout_period = 0 , size_t holdout_after = 0 , bint holdout_labelled = False , bint widens = True ,
-1 |t total = self . _get ( at [ " G " ] )
-1 |t low , high = min ( self . stepper . min_label , e . label ) , max ( self . stepper . max_label , e . label )
1 |t cdef size_t size = data . shape [ 0 ]
-1 |t raise ValueError ( f " there is something between { at } and { end } " )
-1 |t self . found . values . append ( value )
1 |t Until then the table must not forget idle slots , as it may when it grows .
1 |t if why ! = NULL
-1 |t " " " Learn the example in a place , if there is one . " " "
-1 |t main = self . main
-1 |t def shape ( self , name str , numbers Array ) - > str
1 |t if not isinstance ( values , memoryview ) and len ( values ) ! = self . classes
-1 |t names = names [ line ] if names else None , excess = self . source . excess . get ( line , { } ) ,
-1 |t weights = array ( " d " , ( max ( abs ( w ) - gravity , 0 . 0 ) * ( contraction if w > 0 else - contraction ) for w in columns [ 0 ] ) )
1 |t cdef Seen * s
-1 |t " " " The batches of an index , which are one after the other , up to the place of the index . ValueError if not . " " "
1 |t self . maker . end ( )
-1 |t state = { f " state_ { name } " self . state [ name ] for name in sorted ( self . state ) }
-1 |t if h . version > = NARROW_SLOTS or len ( rest ) % ( 4 * step )
1 |t double f = vwlite_double ( ( int 64 _t ) ( bits & 0 x 000 fffffffffffff ) + begin ) - 1 ;
1 |t " " " Count one labelled prediction ; - 1 no memory . surprise - log of the label ' s probability , if there are such . " " "
-1 |t both = np . zeros ( ( len ( self . keys ) , 2 ) , np . float 32 )
-1 |t if self . competes
-1 |t if e . errno = = errno . ENOENT
1 |t cdef double most = LARGEST * self . scale
-1 |t " model to be counted . " ,
1 |t cdef readonly double z
-1 |t stop Callable [ [ ] , bool ] = lambda False
-1 |t self . note ( " warning " , text )
1 |t cdef class AdagradBall ( Adaptive )
-1 |t self . dump_interval = self . weight + step
1 |t cdef void add_linear ( self ) noexcept nogil
-1 |t mode = os . stat ( self . name ) . st_mode
1 |t for i in range ( count )
-1 |t return " - " if value in ( None , " " ) else printable ( str ( value ) )
1 |t self . look_at = self . t + examples
-1 |t output_feature_regularizer_binary - str where to write the strengths of weights
1 |t cdef inline int write_short ( char * out , double v ) noexcept nogil
-1 |t settings = replace ( model or Settings . of ( typed . get ( " algorithm " , " gd " ) ) , * * typed )
1 |t uint 32 _t last
1 |t cdef uint 64 _t WAITING = < uint 64 _t > - 1
-1 |t " probabilities " ( " csoaa_ldf " , " plt " , " multilabel_oaa " , " oaa " ) , " replay_b_count " ( " replay_b " , ) ,
1 |t cdef size_t k , i
-1 |t raise DataError ( str ( item ) )
-1 |t idle [ name ] = a . values . pop ( name )
1 |t sums [ i ] = vwlite_round ( sums [ i ] , vwlite_eight ( p + 8 * i ) ) ;
1 |t raise MemoryError ( " no memory for the queue of the l 1 ball " )
1 |t s . w = self . derived ( s )
-1 |t from vwlite . core . learn . losses import Loss
1 |t uint 64 _t line_begin
-1 |t self . raw = np . zeros ( 0 , np . float 32 ) # predictions of the rows in this pass
-1 |t if isinstance ( block , Fault )
1 |t " " " Exponentials and powers of many numbers at once . See elementary . pyx . " " "
1 |t " " " Give a feature its state from before the projection ; S and R are those of the ball . " " "
1 |t bint mapped # labels are ` negative ` or ` positive ` , and become - 1 or 1
-1 |t def weight ( self ) - > float
1 |t cdef bint clips
-1 |t self . note ( " info " , text )
-1 |t if whole and s . power_t ! = 0 . 5
1 |t PLACES = 16
-1 |t " " " The model as of now . before the counters of the model that was continued , or zeros . " " "
-1 |t " eg - pm " Page (
-1 |t " This may indicate a data format issue . "
1 |t queue than its red - black tree .
1 |t return trouble_at ( trouble , INDEX_SMALL , begin , p )
-1 |t version = VERSION . encode ( ) + b " \ 0 "
1 |t cdef size_t odd , lines , patience = 1
1 |t cdef const char * p = a . tags + a . tag_begin [ line ]
-1 |t self . _file . close ( )
-1 |t early_terminate int None = None
1 |t cdef double value ( self , double p , double y ) noexcept nogil
-1 |t " " " The lines of the summary ` name = value ` . None is left out for what only some tasks have . " " "
1 |t for ( size_t i = 0 ; i < found ; i + = 6 ) {
-1 |t return NAN , 1 . 0 , 0 . 0
1 |t cdef bint touches = False
-1 |t TRAILER = struct . Struct ( " < QQQ 8 s " ) # place and size of the index , its sum , END
-1 |t return WriteError ( f " { self . name } cannot be written { e . strerror } " )
1 |t raise ValueError ( " the weight of a feature is not above 0 " )
-1 |t if self . passes = = 0
-1 |t self . quiet = s . arguments . flag ( " quiet " )
1 |t from vwlite . core . learn . rule cimport Example , Outcome , Rule , Schedule , learning_rate , next_piece , sweep
-1 |t state = { name array_of ( columns [ i ] . tobytes ( ) , " f " ) for i , name in enumerate ( fields ) } if whole else { } ,
1 |t if self . expanded ! = line
-1 |t if type ( name ) is not str or not _NAME . fullmatch ( name )
-1 |t self . _base ( e , learns )
1 |t return self . queue . size
-1 |t s . say ( " Making holdout_set_off = true since output regularizer specified " )
1 |t # and if the last one did else what is forgotten comes back at once , and is better kept for some time .
-1 |t delta float = 1 e - 8
1 |t cdef inline void move ( self , double m , int 64 _t block , double old_m , int 64 _t old_block ) noexcept nogil
1 |t return not self . stopped
1 |t dropped + = 1
1 |t self . since + = features
1 |t s . G + = cut + more * g
1 |t while begin < self . gathering . size and not self . visit_chunk ( begin , & chunk )
-1 |t from vwlite . core . text . lines import count_lines
1 |t from vwlite . core . text . murmur cimport murmur
-1 |t if end < 0
1 |t self . delta = max ( delta , SMALLEST )
-1 |t self . opts = everything
-1 |t " " " Save the models as of now , in the middle of a pass , as if the data ended here . If nothing was learned , what
-1 |t _format = _option (
-1 |t " " " The engine ' s learner ; a new one when it is known from which number classes count . " " "
-1 |t " " " The value of an option , or the default if it was not given . " " "
-1 |t label = e . target [ 0 ] [ 0 ]
1 |t digits [ n ] = p [ 0 ]
1 |t return loss / norm
1 |t spelled = b " " . join ( bytes ( [ len ( term ) ] ) + term for term in terms )
1 |t cdef size_t stride = self . stride
-1 |t line = line . removesuffix ( b " \ n " ) . removesuffix ( b " \ r " ) . removeprefix ( b " \ xef \ xbb \ xbf " )
-1 |t DataError if a number in it is not finite such a model is never written .
1 |t " " " Decimal numbers , as they stand in text . See numbers . pyx ; here is the short way , to be inlined . " " "
-1 |t elif n_high < = 0
1 |t sum = sum * r + 1 / 479001600 . 0 ;
-1 |t raise CacheUnusable ( f " it was made by vwlite { _shown ( found . get ( ' program ' ) ) } " )
-1 |t s . not_linear = letters ( a . get ( " ignore_linear " , [ ] ) )
-1 |t if o . quadratic or o . cubic or o . interactions
1 |t s + = 1
-1 |t " " " First letters of namespaces ; ` size ` of them if it is given . " " "
1 |t their decimal value + seed , mod 2 ^ 32 ; else murmur ( stripped , seed )
-1 |t from vwlite . model import Model , read_model
-1 |t raise UsageError ( f " { name } cannot tell whether { path } has changed , as it is no file leave it out " )
-1 |t one . weight = weight
1 |t cdef public object first_line # number of the first line in that file , from 1
-1 |t widths = [ max ( map ( len , column ) ) for column in zip ( names , * cells , strict = True ) ]
1 |t cdef bint takes_numbers ( self , const Arrays * a ) noexcept nogil
-1 |t def _cost ( self , word bytes ) - > tuple [ int , float None ]
-1 |t " " " One against all . " " "
-1 |t if " nn " in a
1 |t square [ i ] = TINY_SQUARE if value * value < TINY_SQUARE else value * value
-1 |t cache bool = False
1 |t if direction is None or np . linalg . norm ( direction ) > 1 + 1 e - 9
-1 |t found = f " { self . best_holdout . 6 f } h " if self . best_holdout < UNKNOWN else " undefined ( no holdout ) "
1 |t cdef double SURELY = 1 + 1 / 64 . # what is to be zero at the next look is no matter of the last digit
1 |t if e . size > 0 and slots [ e . size - 1 ] . mark = = self . constant
-1 |t " " " Sort the features by index and value , keep the first of equal ones , and at most ` limit ` of them .
-1 |t raise Critical ( " error while parsing - - classweight " + value , " classweight . cc " , 30 )
-1 |t f " Error ' { text } ' is not a valid choice for option - - { self . name } . Please select from { { { choices } } } " ,
1 |t cdef int begin ( self , const Arrays * a , size_t line ) noexcept nogil
1 |t h = 1
-1 |t " will be ignored . "
-1 |t name , letter , type , * keep = head . split ( )
-1 |t if group . shared is not None
-1 |t tail - F events . vw vwlite predict - m clicks . model . / act
1 |t " " " The share of the right class , or with the right sign ( a score of 0 counts as negative ) ; None unless all labels
1 |t o . depth , o . inner = depth , end
1 |t self . choose_ranks ( )
-1 |t " data in other formats than text , JSON and CSV " " dsjson flatbuffer ignore_features_dsjson_experimental " ,
-1 |t raise DataError (
1 |t # - - - as bytes - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
-1 |t @ click . argument ( " name " , required = False , type = Name ( ) , metavar = " [ NAME ] " )
-1 |t " w_i < - w_i exp ( - eta_t g_i ) / Z , Z such that sum of w = radius \ nw_i = radius / d at the beginning " ,
-1 |t if self . name not in ( " squared " , " classic " )
1 |t cdef inline bint next_piece ( Example * part ) noexcept nogil
1 |t self . scratch_size = rest + rest / / 2 + 1 + PADDING
1 |t cdef size_t i , kept = 0
-1 |t class CannotCreateError ( VwliteError )
1 |t data = out
-1 |t " no_progress node_only randomized_routing recall_tree emt emt_initial emt_leaf emt_router emt_scorer emt_tree " ,
1 |t out [ i ] = self . taken ( keys [ i ] + 1 )
-1 |t " " " Run the program and exit . As long as there is nothing to be finished , the first signal ends it ; when all is
-1 |t self . _measure ( weights , dot ( along , along , weighed ( curvature ) ) + weights . bend ( ) )
1 |t cdef check_room ( self )
-1 |t if shared is not None
-1 |t " adaptive , normalized , importance - aware gradient descent , as Vowpal Wabbit ' s default " ,
-1 |t " " " Labels that are not simple their words lie before a NUL in the tag of a batch ' s line . " " "
1 |t TWO_SIDED = True
1 |t self . labels + = importance * label
-1 |t _compare_options ( found . get ( " options " ) , wanted [ " options " ] )
1 |t self . push ( s )
-1 |t flags = ( " sgd " , " adaptive " , " normalized " , " invariant " )
-1 |t self . _remove_lock ( self . _lock )
-1 |t " " " Numbers side by side an array as a memoryview of numbers , and one field of the slots of a rule . " " "
1 |t cdef inline float bet ( self , const Slot * s , float m ) noexcept nogil
-1 |t self . fault = " "
1 |t w = self . visited . w
-1 |t " " " Letters in the order in which they are hashed sorted if some repeat and some do not . " " "
1 |t weigh_all ( n , shift , v . z , v . inverse , v . w )
-1 |t class UsageError ( VwliteError )
-1 |t word = match . group ( 1 ) . decode ( ) . lower ( )
1 |t if self . write_classes ( o . p , tag , tag_size )
-1 |t learner = scalar . Confidence (
1 |t window = delimiters ( p , c ' # ' )
-1 |t " " " What decides which labels are valid . The function gets ` files ` and a TrainOptions for the rest . " " "
-1 |t learner = s . active = active
-1 |t help = " Keep the parsed data beside the ( first ) file , as FILE . vwlite - cache , for this and later runs . " ) ,
-1 |t " " " There are no more rows . The keys of the columns , rising those of the rows and some more . " " "
1 |t " " " tau = l / x ^ 2 " " "
-1 |t from vwlite . runs . progress import HEADER , Interval , LiveLine , Row , format_row
1 |t known = < uint 64 _t > 255 < < shift
1 |t c . name [ n ] , c . length [ n ] , c . seed [ n ] = p , < uint 32 _t > ( q - p ) , space
1 |t if self . cells = = NULL
-1 |t def _ends ( self , ends bytes ) - > bool
1 |t self . small = SMALL * self . scale
-1 |t if numbers . format in " fd " and not all_finite ( numbers )
1 |t or self . active > 4 * self . ranked_for
-1 |t super ( ) . __init__ ( name , stepper , streams , predicts_apart = True )
-1 |t # A parent at work how far its children are done , its key and its value .
1 |t def slot_size ( self )
1 |t cdef const uint 32 _t * hash
-1 |t e . weight = 0 . 0 if cost is None else 1 . 0
1 |t cdef object _view ( self , void * data , size_t items , size_t size , str code )
-1 |t " " " Give up what was not finished . " " "
1 |t if x . shape [ 0 ] ! = out . shape [ 0 ]
-1 |t width = max ( len ( name ) for name , _ in rows )
-1 |t link = a . get ( " link " , " identity " )
-1 |t if output is not None
1 |t return s . u if s . mark = = self . constant else self . link ( self . now ( s ) )
-1 |t self . _most = options . max_errors
-1 |t from concurrent . futures import ThreadPoolExecutor
-1 |t class Svrg ( Linear )
-1 |t with mmap . mmap ( f . fileno ( ) , 0 , access = mmap . ACCESS_READ ) as mapped
-1 |t keys , found = self . _features ( run , one )
-1 |t self . shown = True
1 |t self . strength = l 1
-1 |t from vwlite . model . snapshot import restore , snapshot
1 |t if record < sizeof ( Head ) or ( blank is not None and len ( blank ) ! = record )
-1 |t self . _print_row ( )
-1 |t pairs = json . loads ( line , object_pairs_hook = list )
-1 |t def _checked ( fd int , wanted dict [ str , Any ] None ) - > CacheReader
-1 |t # Which one of equal weights is left out is up to the heap , which must be Vowpal Wabbit ' s .
-1 |t if self . cache is not None
-1 |t output = sys . modules . get ( " vwlite . output . atomic " )
-1 |t raise ( Newer if known else ValueError ) ( brief ( why ) ) from None
1 |t raise ValueError ( " the number of active features is not that of the weights " )
-1 |t return re . sub ( r " \ \ x ( [ 0 - 9 a - fA - F ] { 2 } ) " , lambda match chr ( int ( match . group ( 1 ) , 16 ) ) , text )
-1 |t " " " Whether the file begins like a model . " " "
-1 |t quantile_tau - float tau of the quantile loss
-1 |t " " " A regression of the cost , or a classifier of pairs ( wap ) , over the features of each class . " " "
-1 |t for name , value in facts . items ( )
1 |t copy ( self . a . tags + self . a . tag_bytes , other . a . tags + first_tag , tags )
-1 |t UPDATE_OPTIONS = ( " sgd " , " adaptive " , " invariant " , " normalized " , " learning_rate " , " power_t " )
-1 |t _fill ( memoryview ( trailer ) , fd , size - TRAILER . size )
-1 |t pair . mean . add ( to_float ( self . lost - self . _judge ( to_float ( self . _mean ( key ) ) , e . label ) ) , importance )
-1 |t return " unknown " if e . target is None else self . called ( e . target ) or " unknown "
-1 |t if not self . best_is_kept
-1 |t s . say ( f " learning rate = { short ( s . learning_rate ) } " )
-1 |t rate = ALGORITHMS [ s . algorithm ] . rate
-1 |t " " " p = b + the sum over hidden units h of v_h tanh ( w_h x ) , where every w_h , and ( v , b ) together , is a linear model .
1 |t " " " Leave those with u > = least in the list . " " "
1 |t if s . place > self . n
-1 |t box float None = None
1 |t " " " eta_t for the t - th example , t counted from 1 . " " "
1 |t sum = sum * z + 1 / 15 . 0 ;
-1 |t context ends the threads . number whether to number the distinct hashes of a batch , if they are few .
1 |t if self . widens
1 |t missing + = out [ i ] = = self . blank
-1 |t rows . add_to ( weights . h , weighed ( curvature ) , 2 )
1 |t self . a . spans + = 1
1 |t wary VW text that Vowpal Wabbit reads otherwise , or with a warning , is a fault too blanks alone in
-1 |t sparse_weights - bool changes nothing tables are sparse
-1 |t keys = shifted ( copied ( field_of ( self . rule , data , " mark " ) ) , 2 * * 32 - 1 )
1 |t if e . pieces ! = NULL and len ( sums ) > ENORMOUS
-1 |t def __init__ ( self , base Layer , weights dict [ int , float ] , kind str = " scalar " ) - > None
-1 |t elif arguments . get ( name ) ! = value
-1 |t " - l 1 e - 3 - - l 1 0 . 1 - - round - at - end 0 . 01 " ,
-1 |t def release ( self ) - > None
1 |t cdef bint learning , writes , writes_raw , probabilities , short
1 |t cdef Slot * * waiting # owned ; active , but not in the queue yet
-1 |t i = j = 1
-1 |t raise CannotCreateError ( f " { self . name } cannot be written twice , as it is not a file name a regular file " )
1 |t cdef double strength = self . schedule . rate * self . schedule . decay * self . l 1
1 |t cdef size_t number_capacity
1 |t return self . radius * factor if norm > 0 . 999 * self . radius else self . radius
-1 |t learner = make_learner ( settings , rule_class = Fixed , names = model . classes , * * options )
-1 |t from vwlite . vw . random import Random , uniform
1 |t uint 32 _t number = ( uint 32 _t ) vwlite_decimal ( digits ) + seed [ i ] ;
1 |t if isinstance ( first , memoryview )
-1 |t " " " Whether there is nothing to learn from the example , with a word if it is not clear . " " "
-1 |t ( ( h & mask ) < < shift , x , name if letter = = 32 else name . partition ( b " ^ " ) [ 2 ] )
-1 |t return Namespaces ( letters . encode ( " latin - 1 " ) , [ bytes ( c for c in group if c ! = WILDCARD ) for group in groups ] )
-1 |t pair , mean = self . experts [ key ] , to_float ( self . _mean ( key ) )
1 |t cdef double occurrences # features of the examples learned , all together , where weights move at once
1 |t cdef double * S = v . S
-1 |t empty . put ( None )
-1 |t if sources = = " "
-1 |t self . loss = main . loss
1 |t for name , first in each [ 0 ] . items ( )
-1 |t WIDE = 31 # from so many bits on the number of a slot takes eight bytes in a file
-1 |t if a . flag ( " quiet " ) and " log_level " not in a
1 |t cdef size_t i , k , size = 0
1 |t # ifdef __SSE 2 __
-1 |t " features " int ( features ) ,
1 |t doubles = numbers
-1 |t for name in ( " bootstrap " , " boosting " , " active " , " confidence " , * CLASSES )
-1 |t stride = s . stride
-1 |t b " \ x 1 f \ x 9 d " " compress " ,
1 |t def pass_decay ( self , double decay )
1 |t s . u = self . unseen + self . shift
-1 |t slots , mask , offset = self . slots , self . mask , e . model
-1 |t if self . tests or self . audit is not None
-1 |t if settings . nonzeros and not options . get ( " learn " , True ) # the state has more weights than the model
1 |t self . settle ( chunk )
-1 |t raise DataError ( f " { path } a model of classes cannot be exported ` vwlite vw - - oaa ` makes one for Vowpal Wabbit " )
1 |t count [ byte ] = sum - count [ byte ]
-1 |t spans = range ( batch . span_begin [ line ] , batch . span_begin [ line + 1 ] )
1 |t vector instructions no branch , no table . What the columns are too narrow for , names of 16 bytes and
1 |t cdef readonly double value # of the loss
1 |t return copysign ( self . norm * power , theta )
-1 |t return self . called ( e . prediction )
1 |t columns read plain lines of VW text by columns , which gives the same in less time .
-1 |t batch Any = None # the linear model , if its weights change between passes only
-1 |t from vwlite . options . groups import Command , TrainOptions , train_options
1 |t cdef struct Fault
-1 |t range = ( low , high ) ,
1 |t # - - - what a rule says - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
-1 |t raise Critical ( f " Malformed example , words . size ( ) = { len ( e . words ) } " , " multiclass . cc " , 71 )
-1 |t feature_weights bool = False
-1 |t raise ValueError ( f " it has a range of predictions , which models of { settings . algorithm } do not have " )
-1 |t def _substitute ( self , e Current ) - > tuple [ list [ int ] , int ]
-1 |t yield self . _read ( entry , buffer ) , entry . place + entry . size
1 |t if not ( self . has_last if i = = self . capacity else ( < Head * > slot ) . mark ! = 0 )
-1 |t raise Refused ( f " - - nn with - - { name } " )
-1 |t ZIP = b " PK \ x 03 \ x 04 "
-1 |t if self . count < = SHOWN
1 |t if self . a . spans = = 0
1 |t " " " The base w = scale * soft ( z , shift ) / H . A subclass says how an example moves z and S , and the shift . " " "
-1 |t _option ( " - - holdout - off " , " holdout_off " , group = _PASSES , vw = ( " - - holdout_off " , ) , is_flag = True , default = False ,
1 |t " " " The keys in model 0 and the values of the example , as lists ; ` set ` takes them back . " " "
-1 |t def audit ( self , e Current ) - > None
-1 |t def _note ( self , e Current ) - > None
-1 |t " collisions . "
-1 |t mass = linear - points * slope
-1 |t self . bottom . audit = audit
1 |t chunk . pieces = NULL
1 |t for number in range ( count )
-1 |t UsageError for two that meet , by whatever names .
1 |t cdef inline double within ( double p , double largest ) noexcept nogil
1 |t return ~ ( ( ( w & VWLITE_EACH ( 0 x 7 F ) ) + VWLITE_EACH ( 0 x 7 F ) ) w VWLITE_EACH ( 0 x 7 F ) ) ;
-1 |t metavar = " LETTERS " , help = " As - - ignore , but interactions still see them . " ) ,
-1 |t bits = arguments . get ( " bit_precision " )
-1 |t return _make_parameter_free ( a , s , loss , betting or " freegrad " )
-1 |t def _word ( value Any ) - > bytes
-1 |t " alg " ( " boosting " , ) , " batch_sz " ( " stage_poly " , ) , " batch_sz_no_doubling " ( " stage_poly " , ) ,
-1 |t values . setdefault ( letter , [ ] ) . extend ( own )
-1 |t def _stable_slope ( self , e Current , keys list [ int ] , values list [ float ] ) - > float
1 |t " " " Make the sums of what the list has , for the base as it is . " " "
-1 |t return ( number + seed ) & 0 xFFFFFFFF
1 |t d . x [ s . place - 1 ] + = x [ i ]
-1 |t inside = ( zero > = high ) & ( clip < = low )
-1 |t def read ( self , words list [ bytes ] ) - > tuple [ float , float , float ]
-1 |t " threads " o . threads ,
1 |t y = - 1
1 |t def derivative ( self , double p , double y )
1 |t if self . sums is not None and model ! = self . model
1 |t if not new > self . shift # w is 0 , or too small to be told from it
1 |t cdef double [ 1 ] w = array
-1 |t if x is None
1 |t cdef bint next_of ( Pieces * pieces , Example * part ) noexcept nogil
-1 |t EXAMPLE , BLANK , REJECTED = 0 , 1 , 2
-1 |t self . holdout_weight + = weight
1 |t cdef readonly uint 64 _t features # d , if it is given
-1 |t if not 1 < = e . target < = circuit . k
1 |t void * zeros_of " vwlite_zeros_of " ( size_t size ) noexcept nogil
-1 |t def _is_number ( word str ) - > bool
-1 |t self . base . learn ( e )
-1 |t run . raw . write ( _raw_text ( group . shared , 0 . 0 ) )
1 |t out = array . array ( " f " , bytes ( 4 * numbers . shape [ 0 ] ) )
1 |t # - - - the list - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
1 |t from vwlite . core . learn . rule cimport Example , Outcome , Rule , last_slot , next_piece , sweep
-1 |t self . weights . append ( e . weight )
1 |t cdef double old = self . part ( < Slot * > s )
1 |t SLOT = [ ( " mark " , " < u 4 " ) , ( " _at " , " < u 4 " ) , ( " z " , " < f 8 " ) , ( " S " , " < f 8 " ) , ( " _inverse " , " < f 8 " ) ]
-1 |t " p = 2 ln d , at least 2 " ,
1 |t " " " Only when this rule is used the others do without , and start faster . " " "
-1 |t learner . rule . set_weights (
1 |t cdef uint 8 _t letter
1 |t return h ^ ( h > > 16 ) ;
-1 |t if self . _number
-1 |t sys . stdout . write ( f " [ critical ] vw ( { e . place } ) { e } \ n " )
-1 |t end = buffer . rfind ( b " \ n " , begin , piece . end ) + 1
-1 |t self . _syntax ( " ' ' or EOL expected after " )
1 |t if make_room ( < void * * > & bucket . entries , & bucket . capacity , bucket . size + 1 , sizeof ( Entry ) )
-1 |t shorter + = len ( hashes ) - len ( space . hashes )
1 |t if size + n > d . capacity and grow ( d , 2 * ( size + n ) )
1 |t if - LAST_POWER < = d . power < = LAST_POWER
1 |t cdef inline double truncate ( double v , double a , double theta ) noexcept nogil
-1 |t arguments . values [ " ngram " ] = list ( header . ngrams )
-1 |t if _count ( place ) ! = at + gap or place + _count ( size ) > end
1 |t self . gathered_hash = < uint 32 _t * > grown
1 |t cdef void follow ( self ) noexcept nogil
1 |t self . lines - = 1
1 |t SLOT = [ * L 1 Ball . SLOT , ( " sum " , " < f 8 " ) , ( " since " , " < f 8 " ) , ( " area " , " < f 8 " ) ]
1 |t # From here on the example counts .
1 |t so that the place of the next feature is known long before this one is hashed and read , eight bytes
-1 |t # they are in no text that was decoded from bytes .
-1 |t " " " Read a model file , all of it checked but for the rule ' s state , which the rule knows ` vwlite / model / snapshot . py ` .
-1 |t " corrupt_type_warm_start cover csv_trace debug_reversed_learn default_lease elim epsilon epsilon_decay "
1 |t ctypedef int int 128 " vwlite_int 128 "
-1 |t return path if path = = " - " else os . path . realpath ( path )
-1 |t " " " Take over sys . stdout and sys . stderr ; once , when the program starts . " " "
1 |t return self . rules [ 0 ] . contraction
-1 |t raise self . _bad ( text )
1 |t sum + = factor * ( < double > self . moments [ k ] / UNIT )
1 |t self . root = np . sqrt ( values )
1 |t cdef void set_keys ( self , int shift , uint 32 _t model , uint 32 _t mask , int less ) noexcept nogil
1 |t elif s . bound > s . u # also if it has none
-1 |t s . say ( f " Input label = { s . kind } " )
-1 |t def _name ( self ) - > bytes
-1 |t names = ClassNames ( self . classes . classes , run . labels . class_names ( ) )
1 |t bint strings # names of digits only are numbers , not hashed
-1 |t ftrl_alpha float = 0 . 5
1 |t static inline uint 64 _t vwlite_decimal ( uint 64 _t digits ) {
-1 |t e . made_names = names and [ names [ i ] for i in rest ]
1 |t shift = max ( shift , self . wanted_shift ( ) ) # rounding must not let it fall
1 |t ENDS_WORD " VWLITE_WORD " # blank , ' ' , end of line
1 |t cdef bint point = False
-1 |t present = sorted ( c for c in letters if 32 < = c < = 126 )
1 |t cdef inline float below ( double u ) noexcept nogil
-1 |t # - - - models BBM keeps nothing - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
1 |t if self . queue . size > 3 * self . active + 1024 or self . slots_of_queue ! = self . table . slots
-1 |t return self . class_of ( parts [ 0 ] ) , cost
-1 |t names = _members ( archive , data )
1 |t unsigned int lowest " vwlite_lowest " ( uint 32 _t bits ) noexcept nogil
-1 |t except click . exceptions . Exit as e
-1 |t for name in NOT_IN_BATCHES if batch else ( )
1 |t begin = o . inner
-1 |t own = names [ term [ depth ] ]
-1 |t return bool ( o . report or o . rejects ) or any ( not sink . closed for sink , _ in self . _sinks )
-1 |t settings = _settings ( o , model )
1 |t self . set_base ( self . base , self . unit )
1 |t free ( self . slots )
-1 |t if e . names is not None
-1 |t if " input_feature_regularizer " in a and head is not None
-1 |t model = o . initial
1 |t self . heap [ i ] = item
1 |t which no rule expects . What else the numbers are is for a checksum and ` check_numbers ` to know .
-1 |t if importance > 0
-1 |t " " " From settings to objects which class is meant by which name . " " "
1 |t settle ( & self . R )
-1 |t return str ( self . nonzeros )
1 |t " " " z log ( 1 + exp ( - p ) ) + ( 1 - z ) log ( 1 + exp ( p ) ) , z = ( y - low ) / ( high - low ) labels between two ends
-1 |t _say_spaces ( s , shape . ngrams , " Generating { } - grams for { } namespaces . " )
1 |t ENDS_PAIR " VWLITE_PAIR " # blank , ' # ' , end of line what ends index value in libsvm
-1 |t while at < len ( arguments ) and not arguments [ at ] . startswith ( " - " )
-1 |t " O ( n ^ 2 ) for n features seen , O ( n ^ 3 ) for a root ; with l 1 some solutions of linear systems " ,
-1 |t return SIMPLE_LOSSES [ settings . loss or " squared " ] ( ) # one that is not known only predicts
1 |t slots [ i ] . n + = < float > fabs ( g )
-1 |t if getattr ( o , name ) and o . model is None
-1 |t return name_hash ( name , namespace_hash ( namespace , hash_all , seed ) , hash_all )
-1 |t self . file IO [ str ] = open ( path , " w " , errors = " surrogateescape " ) if self . _own else sys . stdout
1 |t self . schedule . initial_t = initial_t if adaptive else 0 # blank ( ) needs it
-1 |t if to_float ( value ) ! = 0
1 |t self . size = self . expander . f . size
1 |t cdef void clean ( self ) noexcept nogil
-1 |t pool = Pool ( FRONT + block_size )
1 |t if k > 0 and text . write ( b " " , 1 )
1 |t # In place all lines that have PADDING readable bytes behind them .
-1 |t state dict [ str , Array ] = field ( default_factory = dict )
1 |t cdef uint 32 _t places = 4
1 |t cdef uint 32 _t k
-1 |t self . predictions = array ( " f " ) # and as they are when they are clipped
1 |t memcpy ( self . terms , < const char * > spelled , len ( spelled ) )
-1 |t put ( f " bits { h . bits } \ n " )
-1 |t def fingerprint ( sources Sequence [ str ] , options dict [ str , Any ] ) - > dict [ str , Any ]
1 |t void number_names " vwlite_number_names " ( size_t n , const uint 64 _t * head , const uint 32 _t * length ,
1 |t double p # the prediction , clipped if the rule asks for it
-1 |t words + = f " , currently using { a . get ( ' loss_function ' , ' squared ' ) } "
1 |t window , which is e ^ 14000 , the sums are counted anew from the table .
-1 |t " " " Bytes of all sources ; None if one of them is not a regular file . " " "
-1 |t parts = re . match ( r " \ s * ( [ - + ] ? [ 0 - 9 ] { 1 , 10 } ( ? ! [ 0 - 9 ] ) ) [ ^ ] * ( . * ) " , pair , re . DOTALL )
1 |t return mark_delimiters ( base , begin , end , marks , room , reached )
-1 |t refuses = COUNTED ,
1 |t cdef struct Gathered
-1 |t return f " label { token } expected { labels [ 0 ] g } or { labels [ 1 ] g } , as - - labels says "
1 |t cdef readonly uint 32 _t count # how many there are
1 |t continue # stale
-1 |t label = " unknown " if row . label is None else _cell ( row . label )
1 |t cdef class AdagradFull ( Rule )
1 |t return exp ( p ) - y
1 |t def count_nonzero ( self )
-1 |t elif source . cache is not None
1 |t if self . owner is not None
1 |t cdef size_t n = self . collect ( False )
1 |t cdef inline double now ( self , const Slot * s ) noexcept nogil
-1 |t if self . setup . table or self . setup . summary
1 |t if n = = 0
-1 |t if model . weights_only and ( model . state or model . more )
-1 |t for e in run . examples ( )
1 |t s = < AveragedSlot * > e . slots [ i ]
1 |t return max ( block , - block - 1 ) if self . two_sided else block
-1 |t return _replayed ( a , s , csoaa , " c " )
1 |t first , limit = 0 , INFINITY
-1 |t def _several ( * options Callable [ [ Any ] , Any ] ) - > Callable [ [ Any ] , Any ]
-1 |t return target . name
1 |t return self . S . low
1 |t cdef class Adaptive ( Limited )
1 |t constant stands before the interactions . " " "
-1 |t setattr ( self , name , getattr ( self , name ) + count )
-1 |t from vwlite . vw . layers . squares import Squares
-1 |t average = min ( max ( self . setup . statistics . sum_loss / count , 0 . 0 ) , 1 . 0 )
1 |t cdef readonly bint lost # the raw prediction was not a number
1 |t self . used = 0
-1 |t stops bool = last or batch . solver . converged
-1 |t return [ f " \ t { printable ( name ) } " for name in model . class_names ( ) ] or [ " " ]
1 |t return [ self . shares [ k ] for k in range ( self . named ) ]
1 |t sums [ key ] = sums . get ( key , 0 . 0 ) + slope * part . x [ i ]
-1 |t self . _warn_of ( text )
1 |t self . levels [ i ] = NO_LEVEL
-1 |t def shell_complete ( self , ctx click . Context , param click . Parameter , incomplete str ) - > Any
-1 |t raise NoInputError ( f " { self . name } { os . strerror ( errno . EISDIR ) } " )
1 |t cpdef Rule rule_of ( self , uint 32 _t model )
1 |t return y * log 1 p ( h * plain ) / h
1 |t self . settle ( s )
1 |t PyBuffer_FillInfo ( info , self , self . data , self . size , 1 , flags )
1 |t full = ( n > > 2 ) & 1
1 |t if self . age < self . root_every
-1 |t if value ! = value
1 |t most = LARGEST * self . scale
-1 |t self . holdout_after int = a . get ( " holdout_after " , 0 ) if self . holdout else 0
1 |t cdef double rate = 1 , power_t = self . schedule . power_t
-1 |t passes - ulong how often to go through the data
-1 |t full . put ( ( self . _read ( entry , buffer ) , buffer ) )
-1 |t PAGES = {
1 |t out = self . table . slots_in_order ( )
-1 |t s . output = " ACTION_SCORES " if ldf . rank else " SCALARS " if ldf . probabilities else " MULTICLASS "
1 |t cdef double largest = 0 , strength = self . strength , first , unit = rate * examples
-1 |t class Option ( click . Option )
-1 |t self . indexing . check ( label )
-1 |t self . _read , self . _write = os . pipe ( )
1 |t def step ( self , g , double eta )
1 |t values = np . einsum ( " ij , jk , ik - > i " , points , S_A , points ) / 2 - points @ b_A + np . abs ( points ) @ c_A
-1 |t unweighted_marginals - bool importances do not count in marginals
1 |t against all they learn from the beginning , that no example is theirs ; in softmax they take no part until they have a name .
-1 |t learner . progressive . resume (
-1 |t def _pause ( self ) - > Iterator [ Piece ]
1 |t cdef struct Sum
-1 |t self . holdout_loss + = holdout_loss
1 |t slots [ i ] . sigma * = rest if rest > 0 else 0 # below 0 by rounding only
1 |t if at ! = size
-1 |t classes str None = None
1 |t free ( d . x )
1 |t cdef struct Cell
-1 |t strict_parse - bool malformed lines are critical
-1 |t from vwlite . output . atomic import AtomicFile , check_apart
1 |t while i + 1 < n
-1 |t index = _index ( fd , info . st_size )
-1 |t _BACK = str . maketrans ( " \ udc 00 \ udc 01 " , " \ r \ 0 " )
1 |t want = max ( 2 * want , < size_t > 256 )
-1 |t _option ( " - - cubic " , group = _FEATURES , type = Letters ( 3 , 3 , wildcards = True ) , multiple = True , metavar = " ABC " ,
-1 |t return ( - 1 if e . target is None else int ( e . target ) ) % ( 1 < < 32 )
1 |t LITTLE = 1 < < 20 # bytes of a table that may double although few of its slots are in use
-1 |t from vwlite . core . vw . stepper import Stopped
1 |t cdef size_t n = c . size , first , ordinal = 0
1 |t An account is as in averaging . pxd , but nothing has to be remembered a weight that becomes zero is dropped by the
-1 |t one , two = spaces . get ( self . first ) , spaces . get ( self . second )
-1 |t names list [ str ] = field ( default_factory = list ) # of labels
1 |t if error is not None
1 |t cdef double factor = min ( max ( pow ( self . goal ( ) / n , GAIN ) , 0 . 25 ) , 4 . 0 ) if n else 4 . 0
1 |t raise IndexError ( line )
-1 |t " " " Writes a cache . Without a path it is a temporary file that nobody else sees , gone when it is closed . " " "
1 |t for j in range ( i , spans )
1 |t Regularized dual averaging , eq . 5 , with G = sum of g
1 |t cdef size_t i , n = slots . shape [ 0 ] / / self . stride
-1 |t def _by_line ( self , data bytes ) - > tuple [ Batch , Names None ]
1 |t " " " The name at p and its hash . ` window ` the delimiters from p on ; p itself is none .
-1 |t return a / b if b else a
-1 |t if a . flag ( " svrg " )
1 |t cdef Outcome * outcomes # owned , [ K ] ; as ` judge ` found them
-1 |t return f " { noun } ' { token } ' has text after the number "
-1 |t if not self . _quick
1 |t free ( self . known )
-1 |t raise NoInputError ( f " { display_name ( source ) } { os . strerror ( errno . EISDIR ) } " )
1 |t for i in range ( numbers . shape [ 0 ] )
1 |t cdef divided ( self , v )
-1 |t places = [ path , * ( os . path . join ( folder , path ) for folder in a . get ( " dictionary_path " , [ ] ) ) ]
-1 |t return part + " ; there was no - - model to save "
-1 |t if isnan ( wolfe 1 )
-1 |t raise ClosedPipe ( f " { self . name } nobody reads it any more " ) from e
-1 |t link . unlink ( )
-1 |t from vwlite . model . slots import array_of , copied
-1 |t if len ( token ) > LONGEST
1 |t cdef uint 8 _t letter = a . letter [ span ]
1 |t cdef uint 32 _t * hash
1 |t def add ( self , indices , values )
1 |t return s . rate * s . decay
1 |t self . settings . stop = stop_at_fault
1 |t uint 64 _t w = vwlite_load 64 ( p + 8 * i ) ;
-1 |t " " " Save the model , print the summary , write the report . DataError if nothing was learned that a model needs . " " "
-1 |t return self . stale [ e . counter % len ( self . stale ) ]
-1 |t x = self . random . next ( )
-1 |t waits = os . O_NONBLOCK if stat . S_ISFIFO ( mode ) and sys . platform = = " linux " else 0
-1 |t size = batch . feature_begin [ span + 1 ] - batch . feature_begin [ span ]
1 |t " " " Queue the features that have left a level and are in no queue . " " "
-1 |t if depth + 1 = = len ( term )
-1 |t self . v = [ source . number ( " < f " ) for _ in range ( self . width ) ]
-1 |t return Names ( settings . oaa , encoded , grows = grows and settings . classes = = " auto " )
1 |t cdef const uint 32 _t * G = < const uint 32 _t * > visits . G # as integers equal is equal
-1 |t for name in ( " feature_weights " , " box " , " nonzeros " )
-1 |t pairs = [ ]
1 |t self . levels [ self . level_size ] = Level ( self . next_level , self . shift , self . zeros )
-1 |t return " too many threads the system allows no more ; ulimit - u , or a limit of the container , allows more "
1 |t - Before it doubles , it forgets idle slots ( those back to their initial state , such as a truncated
-1 |t select . select ( [ ] , [ 1 ] , [ ] )
-1 |t MODELS = 1 < < 22 # at most each takes a step of Python for each example
-1 |t if getattr ( o , name ) is not None
-1 |t _option ( " - - decay - learning - rate " , " decay_learning_rate " , group = _LEARN , vw = ( " - - decay_learning_rate " , ) ,
-1 |t for file in list ( _open_files )
1 |t if not 0 < n < WAITING
1 |t For rules that note the state of an example ' s features side by side , a place for each , compute there and write it back .
-1 |t with self . _reading
-1 |t _add ( archive , name , _TYPES [ numbers . format ] , model . shape ( name , numbers ) , numbers )
-1 |t low , high = e . range # type ignore [ attr - defined ]
-1 |t learner = Named ( learner , " generate_interactions " )
-1 |t " learning to search "
-1 |t raise Critical ( words , " parser . cc " , 800 )
-1 |t LETTERS = { option . letter option for option in OPTIONS . values ( ) if option . letter }
-1 |t " " " The header , checked . DataError if it is of a newer program , which may have changed everything else . " " "
1 |t cdef void enter ( self , uint 32 _t number ) noexcept nogil
-1 |t return bytes ( sorted ( term ) ) if mixed else term
1 |t trouble_at ( trouble , LABEL , p , end )
1 |t @ contraction . setter
-1 |t " " " Have the solver decide , and be ready for the next pass . holdout see ` Solver . end_pass ` . " " "
-1 |t text = live_text ( examples , done , total , now - self . begin )
-1 |t loss = float ( len ( set ( e . target ) ^ set ( e . prediction ) ) ) * e . weight if labelled else 0 . 0
1 |t # - - - all at once - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
-1 |t if ( top is not None ) + everything + bool ( names ) > 1
1 |t cdef bint restart
1 |t sums [ i ] = sums [ ( < Met * > slots [ i ] ) . at ]
-1 |t kept list [ int ] = [ ]
1 |t " " " The pieces of the batch as bytes - like objects , to be written one after the other .
-1 |t " identity " lambda p p ,
-1 |t return self . called ( e . prediction ) or " unknown "
1 |t o . value [ 0 ] = run . value [ at [ 0 ] ]
1 |t order , letters = self . terms [ at ] , self . terms + at + 1
-1 |t marks = field_of ( rule , slots , " mark " )
1 |t " " " A number as S counts it . " " "
1 |t free ( self . of_group )
-1 |t " " " Low rank quadratic features each feature has vectors of weights , which multiply those of another namespace .
-1 |t self . run . streams . error ( f " example with a weird name . What is ' { shown } ' ? " )
-1 |t " smidas " ,
-1 |t writer . close ( )
1 |t self . gathered_value = < float * > grown
1 |t capacity * = 2
-1 |t b " \ x 04 \ x 22 \ x 4 d \ x 18 " " lz 4 " ,
1 |t grown = realloc ( self . slots_of_class , 2 * e . size * sizeof ( char * ) )
-1 |t self . pairs = ( k - 1 ) * ( errors + 1 )
1 |t memset ( self . places , 0 , capacity * 4 )
1 |t cdef inline double size_of ( double v , bint signed ) noexcept nogil
-1 |t due = run . lines > = statistics . dump_interval
-1 |t thread . start ( )
-1 |t raise Critical ( " regressor has no non - zero weights . Nothing to audit . " , " audit_regressor . cc " , 260 )
-1 |t return f " { e . prediction . 6 f } { behind } { low . 6 f } { high . 6 f } \ n "
1 |t cdef void look ( self ) noexcept nogil
-1 |t labelled , loss = False , 0 . 0
-1 |t if version > = LONGER_CROSSINGS
1 |t for other in range ( span + 1 , last )
-1 |t s . model = Model ( header , None , 1 , array ( " I " , [ j for j , _ in pulls ] ) , array ( " f " , [ x for _ , x in pulls ] ) )
1 |t " " " soft ( z , shift ) / H . " " "
-1 |t classes = type ( layer ) is Oaa
-1 |t mellowness - float keep how seldom labels are asked for
-1 |t def __init__ ( self , path str , stack ExitStack ) - > None
-1 |t def command ( options TrainOptions ) - > int
-1 |t _option ( " - k " , " - - kill - cache " , " kill_cache " , group = _PASSES , vw = ( " - - kill_cache " , ) , is_flag = True , default = False ,
1 |t label [ 0 ] = y
1 |t ` reason ` says why it came back . After DIVERGED and UNUSUAL the line returned is the culprit , not learned .
-1 |t return self . _free . pop ( ) if self . _free else bytearray ( self . _size )
1 |t " " " Those of class k , counted from 0 , as its rule has them . " " "
1 |t self . learn_chunk ( & chunk , slope , eta )
1 |t cdef enum Stage
1 |t DISTANCE_BITS = 6 # of a bound
1 |t return end + 1
-1 |t hash , called = ( self . hash + self . unnamed ) & MASK , b " "
-1 |t " early - terminate " o . early_terminate ,
-1 |t " " " Whether a file is a cache of this program or of Vowpal Wabbit , whatever its version , or is empty . " " "
-1 |t # As in Vowpal Wabbit , this is the first model ' s weight even where others learn .
1 |t self . columns = Columns ( all , all + capacity , all + 2 * capacity , all + 3 * capacity , capacity , 0 , False )
-1 |t " Duchi , Hazan , Singer 2011 , eq . 1 , 5 , 6 " ,
-1 |t now = self . clock ( )
1 |t return self . _view ( self . a . label , self . a . lines , 8 , " d " )
-1 |t " " " Write the predictions so far ; warns with the warnings of the last example before its own ones . " " "
1 |t from libc . stdint cimport uint 8 _t , uint 32 _t , uint 64 _t
1 |t cdef inline int put ( Queue * queue , Entry entry ) noexcept nogil
-1 |t keys . insert ( then , keys . pop ( now ) )
-1 |t from vwlite . errors import BusyError , CannotCreateError , ClosedPipe , UsageError , WriteError
-1 |t self . _learn_hidden ( e , first , hidden , dropped , sigmas , 2 . 0 if drops else 1 . 0 )
-1 |t _option ( " - - quantile - tau " , " quantile_tau " , group = _LEARN , vw = ( " - - quantile_tau " , ) , show_default = " 0 . 5 " ,
1 |t With G = sum of importance * g , V = sum of importance * g ^ 2 , h the largest g and h_ 1 the first ,
-1 |t elif len ( e . words ) = = 1 and name = = b " label " and not cost
-1 |t if " _ " in str ( value )
-1 |t " l 1 - ball " L 1 Ball ,
1 |t batch . a . label = < double * > ( base + at )
-1 |t CHOICES = {
-1 |t " " " The layers of a learner whose examples have several lines . " " "
-1 |t ( Sink ( path , stack ) , text )
1 |t if p [ 0 ] = = c ' - ' or p [ 0 ] = = c ' + '
-1 |t return " weights are not as many float 64 as there are keys " + ( " and classes " if k ! = 1 else " " )
-1 |t self . scales = multiplier is not None and s . arguments . get ( " loss_function " ) ! = " logistic "
1 |t exponentials ( & x [ 0 ] , & out [ 0 ] , x . shape [ 0 ] )
1 |t grown = realloc ( self . f . keys , want * sizeof ( uint 32 _t ) )
1 |t whole = floor ( v )
1 |t count + = _mm_popcnt_u 32 ( ( uint 16 _t ) bits ) ;
-1 |t infinite bool = False ,
-1 |t values dict [ int , list [ float ] ] = { }
-1 |t " " " Go through the data until all weights are named , or it is over . " " "
-1 |t class Noop ( Linear )
-1 |t return " NUMBER "
1 |t o . label , o . slope = - 1 , 0
1 |t run . size + = 1
-1 |t def _compete ( self , e Current , found float , learns bool ) - > None
1 |t memcpy ( & bound , & bits , 4 )
1 |t " " " exp ( p ) - y p - ( y - y log y ) , y > = 0 , p the logarithm of the mean half the deviance " " "
1 |t undecided [ kept ] = c
-1 |t line = self . line
1 |t from libc . math cimport fabs , sqrt
-1 |t run . finish ( signals . number )
-1 |t last = piece
-1 |t run . learner . bottom . take ( e )
1 |t while q [ 0 ] = = c ' ' # for each word ; q is where the one before it ended , m too
-1 |t total int None = None # bytes of all input , if known
-1 |t self . streams , self . predicts_apart = streams , False
1 |t weight at zero ) . What is left stays as it was , bit by bit when the table is swept can not be
1 |t * largest = high ;
-1 |t shown = self . _words ( learner . linked ( learner . prediction ) ) if not ( self . shares and named ) else " unknown "
-1 |t lines + = [ f " { k . replace ( ' _ ' , ' - ' ) < 24 } { _shown ( v ) } " for k , v in value . items ( ) ]
1 |t cdef inline double factor ( self , double p , double y ) noexcept nogil
-1 |t self , o TrainOptions , learner Learner , resolved Resolved , before dict [ str , int ] , stack ExitStack
1 |t cdef double multiplier # M , after the last example that had a gradient
-1 |t return " N "
-1 |t " adagrad - full " AdagradFull ,
-1 |t " without a label " learner . unlabelled / / passes ,
-1 |t state = { name 0 . 0 for name , _ in vw . STATE }
-1 |t error = self . run . streams . error
-1 |t self . _learn_some ( e , label )
-1 |t return index , unseen if isinstance ( unseen , list ) else [ unseen ] * k , False
1 |t rate * decay * ( t + initial_t ) ^ - power_t . constant the key of the constant feature ( which is
1 |t spans , tags = other . a . span_begin [ end ] - first_span , other . a . tag_begin [ end ] - first_tag
1 |t self . level_size + = 1
-1 |t " " " The names of the classes ; ` ? 4 ` for the fourth if it has none yet . Without classes there are none . " " "
-1 |t def stepper ( self ) - > Any
-1 |t " " " Learn others , and keep the example . Its loss is that of a prediction of 0 , as in Vowpal Wabbit . " " "
-1 |t batch . kind [ line ] , batch . label [ line ] , batch . importance [ line ] , batch . initial [ line ] , batch . tag ( line ) , spans
-1 |t def _adapt ( self , e Current , start int , powers list [ float ] ) - > bool
-1 |t for text in texts
1 |t slots [ i ] . since = self . t
-1 |t self . size = os . fstat ( fd ) . st_size
-1 |t loss , rate = rate , power_t = s . power_t , initial_t = s . initial_t , adaptive = adaptive , normalized = normalized ,
-1 |t s . streams . info ( f " using { called } for neural network { words } " )
-1 |t i = self . order [ self . next ]
-1 |t " " " A dictionary a word a line , and the features it stands for . The first line of a word counts . " " "
1 |t " " " A batch that looks at what ` dump ` wrote , at ` offset ` of a buffer , without copying .
-1 |t source . check = None
-1 |t if self . stop ( )
-1 |t gravity = a . get ( " l 1 _state " , state . get ( " l 1 _state " , 0 . 0 ) ) # before 9 . 0 they are among the options
1 |t if self . missing = = 0 and lies_in ( & self . wanted , & self . seen )
-1 |t h = ( h * PRIME + hashes [ start + offset ] ) & 0 xFFFFFFFFFFFFFFFF
1 |t " " " Features whose weight is not zero , the constant left out . O ( size of the table ) . " " "
1 |t begin + = 64 ;
1 |t char * * slots # [ size ] a feature that occurs twice stands twice
1 |t int bit_length " vwlite_bit_length " ( uint 32 _t x ) noexcept nogil
1 |t self . size + = write_number ( self . data + self . size , number )
-1 |t name = next ( ( name for magic , name in UNSUPPORTED . items ( ) if head . startswith ( magic ) ) , None )
-1 |t Returns the sums of the losses , of examples that were not held out and of those that were .
1 |t Duchi , Shalev - Shwartz , Singer , Chandra . Efficient Projections onto the l 1 - Ball . ICML 2008 ;
1 |t cdef readonly uint 64 _t looked_up # features
1 |t cdef Fault * faults
1 |t self . visited = Visit ( grown , grown + want , grown + 2 * want , grown + 3 * want , grown + 4 * want , NULL , 0 , False )
-1 |t raise ValueError ( f " { info . filename } is compressed or encrypted , which no array of a model is " )
-1 |t whole = found . state is not None and fields = = ( " w " , " G " , " N " ) and not _flags ( a )
1 |t char * text # owned by the Names
1 |t double fma ( double , double , double )
1 |t cdef size_t i , kept , before
1 |t if not ( self . crossed [ letter ] and self . alive [ letter ] ) or self . runs [ letter ] . size
-1 |t ( " l 1 " , " l 2 " ) ,
-1 |t from vwlite . core . learn . losses import Squared
1 |t def __init__ ( self , loss , * , double threshold , size_t period = 1 , * * schedule )
1 |t " " " - 1 no memory . " " "
-1 |t self . _failed = True
1 |t d . end , d . cut , d . negative = NULL , False , p [ 0 ] = = c ' - '
1 |t last = 0 if count = = 0 else count - 1 if count < WORDS else WORDS - 1
-1 |t word = arguments [ at ]
1 |t if self . normalized and norms > 0
1 |t scale = pow ( scale , self . schedule . power_t - 1 )
-1 |t n , k = len ( model . keys ) , model . records
-1 |t while len ( head ) < LONGEST_MAGIC and ( more = self . _read ( ) )
1 |t " " " ` adapted ` for what shrinks all sizes by rate times the strength with every example . " " "
-1 |t namer = self . setup . namer
1 |t cdef double unit , to_unit , radius # radius z in units
-1 |t s = self . setup = Setup ( a , streams , self . random , self . statistics , head = head , undone = undone )
-1 |t for name , why in refused ( algorithm ) . items ( )
-1 |t with self . _told ( )
-1 |t def __init__ ( self , parser TextParser , example Example , line bytes ) - > None
-1 |t self . found = self . example . spaces . get ( self . letter )
1 |t if unlikely ( part . pieces ! = NULL )
-1 |t mean Expert = field ( default_factory = Expert )
1 |t want = max ( want , 2 * self . tag_capacity )
-1 |t shared Current None
-1 |t not a . flag ( " holdout_off " ) and not self . testing and ( self . passes > 1 or a . get ( " holdout_after " , 0 ) > 0 )
1 |t self . schedule . decay = 1
1 |t 1 e 48 , 1 e 49 , 1 e 50 , 1 e 51 , 1 e 52 , 1 e 53 , 1 e 54 , 1 e 55 , 1 e 56 , 1 e 57 , 1 e 58 , 1 e 59 , 1 e 60 , 1 e 61 , 1 e 62 , 1 e 63 } ;
-1 |t if " lrqfa " in a
1 |t s . root = c . root [ i ]
-1 |t def first ( self ) - > int
1 |t monotonously , every u that was ever dropped is at most the shift at the end , and every one that was not is
1 |t cdef int take_columns ( self , const char * p , const char * end , size_t offset , Batch batch , const Arrays * begun ) noexcept nogil
-1 |t if owner and owner . pool
-1 |t def _learn_pairs ( self , run Any , lines list [ Current ] ) - > None
-1 |t WITHOUT_RANK Version = ( 7 , 8 , 1 )
1 |t cdef double size = fabs ( s . w )
1 |t cdef bint judge ( self , size_t label , double importance , size_t named ) noexcept nogil
1 |t variance + = slots [ i ] . sigma * x [ i ] * x [ i ]
-1 |t return DEFAULTS . get ( ( name , a . name ) ) or DEFAULTS [ name ]
1 |t SLOT = [ ( " mark " , " < u 4 " ) , ( " w " , " < f 8 " ) , ( " last " , " < f 8 " ) , ( " gravity " , " < f 8 " ) ]
-1 |t return self . options . get ( " oaa " ) or 1
-1 |t def update ( self , examples int , done int , total int None ) - > None
-1 |t if found . get ( " byte order " ) ! = wanted [ " byte order " ]
1 |t cdef struct Slot
-1 |t " " " ` + 2 a , - 3 b , + 1 ` prefixes and suffixes by namespace . Later ones of a namespace come first . " " "
1 |t self . low = top - WINDOW + 1
-1 |t header , source = vw . read_head ( path , data )
-1 |t except ( KeyError , TypeError , ValueError , RecursionError ) as e # the sum is right somebody else ' s index
1 |t self . cut_key = < uint 32 _t > ( 4294967296 . 0 - kth_largest ( self . sizes , equal , self . nonzeros - above ) )
1 |t prefetch_line ( slots + stride * ( < size_t > ( ( keys [ i ] + < uint 32 _t > 1 ) * < uint 64 _t > 0 x 9 E 3779 B 97 F 4 A 7 C 15 ) > > shift ) )
-1 |t self . path , self . data , self . at = path , data , 0
-1 |t while at < len ( atoms )
-1 |t " pa " Page (
-1 |t n = self . ngrams . get ( letter , self . ngrams . get ( 0 , 0 ) )
-1 |t _option ( " - - early - terminate " , " early_terminate " , group = _PASSES , vw = ( " - - early_terminate " , ) , metavar = " N " ,
-1 |t slots , floats = array ( " Q " ) , array ( " f " )
-1 |t if best > = 0
1 |t cdef double h = 0 , norms = 0 , square , scale = 1 , eta = self . schedule . rate * self . schedule . decay
1 |t cdef void sort_by_high_half ( uint 64 _t * items , uint 64 _t * spare , size_t n ) noexcept nogil
-1 |t min_label float = 0 . 0
1 |t self . scratch [ rest ] = c ' \ n '
1 |t from vwlite . core . base . buffers cimport copy
1 |t cdef Table owner # of slots and blank , if not this table it is a view of one record of each slot
-1 |t if self . weights is not None
1 |t self . leave ( chunk )
-1 |t _redefine ( found . redefined , unescaped ( value ) )
1 |t self . data [ self . size ] = 10
1 |t cdef const char * next
-1 |t name = a . get ( " loss_function " , " squared " )
-1 |t self . writes_regularizer = False
1 |t def unmet_groups ( self )
1 |t size_t n , const uint 64 _t * head , const uint 64 _t * more , const uint 32 _t * length , const uint 32 _t * seed ,
-1 |t " alg " [ " BBM " , " adaptive " , " logistic " ] ,
-1 |t self . shown = False
1 |t " " " Drop the features that wait and that a shift leaves behind . " " "
1 |t cdef Cell * cells # owned ; [ n ]
-1 |t for name , form in STATE
1 |t without error for the first of them . A remainder of R so small that the other terms may have taken its digits along is
1 |t return any_name ( p , seed , strings )
1 |t cdef struct Head
-1 |t if begin . startswith ( ZIP ) or looks_like_vw ( begin )
-1 |t def add ( self , batch Batch ) - > None
1 |t # What the front asks of a rule . Sums over features belong to a class those outside are of the first one .
-1 |t def collect ( self , e Current ) - > None
-1 |t if gap < 1 e - 6
-1 |t data = head
-1 |t if classes and s . names and len ( set ( s . names ) ) ! = len ( s . names )
1 |t cdef inline int grow ( Distinct * d , size_t capacity ) noexcept nogil
1 |t self . a . hash = self . spelled
1 |t ENDED = 4
1 |t cdef Classifier classes # the rule , if it is one ; else None
1 |t What is taken out is at most t , a lower bound of theta , which rounding must not let fall else what was taken out ,
1 |t self . named = self . names_so_far ( )
