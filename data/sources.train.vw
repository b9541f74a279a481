-1 |t hash , called = f . hash ( name , self . hash ) , name
1 |t x = scaled ( & d )
-1 |t " " " What the options mean from what was typed , and the model that is continued , to the settings . " " "
1 |t rule . set_weights ( keys , weights )
1 |t static inline uint 64 _t vwlite_zeros ( uint 64 _t w ) {
1 |t double y = exponent * vwlite_log ( x [ i ] ) ;
-1 |t if found is not None
-1 |t " eg - pm " ,
1 |t cdef const char * libsvm_line ( const Settings * s , Batch batch , const char * p , Trouble * trouble ) noexcept nogil
1 |t return ( uint 32 _t ) _mm_movemask_epi 8 ( _mm_or_si 128 ( _mm_or_si 128 ( low , colon ) , third ) ) ;
-1 |t np . clip ( vector , - b , b , out = out )
-1 |t class ClassWeight ( Layer )
-1 |t self . codes = { name CODES [ kind ] for name , kind in rule . SLOT }
1 |t terms = concrete ( self . patterns , [ c for c in range ( 256 ) if self . seen [ c ] ] , self . leave_duplicates )
1 |t static inline uint 32 _t vwlite_load 32 ( const void * p ) {
-1 |t out . finish ( )
-1 |t excess Excess = field ( default_factory = dict ) # in the batch at hand
1 |t def slack ( self )
1 |t nothing to the batch . In words , as far as it is not plain from the above
-1 |t " " " A line of the log . " " "
-1 |t " l = max ( 0 , 1 - y p ) \ nw < - w + tau y x , tau = min ( h C , l / x ^ 2 ) \ nC = - - pa - c " ,
-1 |t thread . join ( )
1 |t self . crossed [ c ] = 1
-1 |t from vwlite . core . rules . arow import Arow
-1 |t holdout_loss float = 0 . 0
1 |t from vwlite . core . learn . table cimport Table , prefetch , prefetch_line
-1 |t sparse = settings . l 1 > 0 or settings . radius or settings . nonzeros or settings . threshold is not None
-1 |t UNKNOWN = LARGEST * 0 . 5 # the loss of a pass that held nothing out worse than any , better than none
-1 |t active Any = None # the layer of active learning
-1 |t usual = Settings . of ( settings . algorithm )
-1 |t scores = getattr ( e , " scores " , None )
-1 |t from vwlite . options . resolve import OF_LOSS , as_options , check_files , check_link , option_name
1 |t " " " The magnitude of the number at p by strtod , however long it is . " " "
-1 |t os . unlink ( self . _beside . lock )
1 |t " " " Whether so much memory is free , as far as the system tells . It would grant more , and then end some program . " " "
-1 |t batch . first_line = block . first_line
1 |t the same from the same stream .
-1 |t f " Option ' { name } ' depends on another option ( or combination of options ) which was not supplied . "
1 |t self . empty_cells ( )
-1 |t if not _is_of ( value , field . type )
1 |t if high < = FEW # no branch depends on which one it is
1 |t rate * = 1 / < double > s . N if self . adaptive else 1 / ( < double > s . N * s . N )
-1 |t self . _best_model . copy_to ( self . file )
1 |t cdef float TINY_SQUARE = 1 . 17549 e - 38 # x ^ 2 below this counts as this . . .
-1 |t bottom . example_number = self . statistics . example_number
-1 |t tournaments = self . _round ( tournaments )
1 |t bits & = bits - 1 ;
1 |t cdef size_t level_size , level_capacity
-1 |t class Confidence ( Layer )
-1 |t batch . finish_pass ( statistics . holdout_of_pass if self . holdout and statistics . current_pass > 1 else None )
-1 |t r = np . full ( len ( keys ) , 0 if self . given else self . l 2 , np . float 32 )
1 |t i = 0
1 |t grown = realloc ( array [ 0 ] , want * size )
-1 |t kind = a . get ( " ldf_override " ) or a . get ( " csoaa_ldf " ) or a [ " wap_ldf " ]
1 |t A baseline a weight steps over zero and back , but hardly ever meets it ; - - round - at - end makes the model sparse .
-1 |t e . loss = 0 . 0 if e . prediction = = e . label else e . weight # also without a label
1 |t loss where gradients come from . rate , power_t , initial_t the schedule , eta_t =
-1 |t return _check_data ( path , options )
-1 |t " l 1 - ball " ,
1 |t self . find_cut ( )
1 |t number = read_double ( begins [ 1 ] )
1 |t - V is kept as one sum for each block . As m has 52 bits behind the point , m 2 ^ 52 is a whole number the sums are of
1 |t " " " w_i < - w_i exp ( - eta_t g_i ) / Z , w > = 0 , sum w = radius " " "
-1 |t _input = _several (
-1 |t STEP = 512 # compressed bytes at a time it makes up to 32 KiB of each , without a limit
1 |t " " " Exponentiated gradient w_i < - w_i exp ( - eta_t g_i ) / Z on the simplex { w > = 0 , sum w = z } .
-1 |t def read_blocks (
-1 |t bits = a . values . setdefault ( " bit_precision " , header . bits )
-1 |t if key = = self . root
1 |t if n > self . goal ( )
-1 |t if not cell
-1 |t self . _play ( place )
1 |t if s + s_greater - ( rho + greater ) * p < z
-1 |t features Expert = field ( default_factory = Expert )
-1 |t self . experts [ key ] = Pair ( )
1 |t self . drop ( c )
-1 |t self . _on_stop , is_late = on_stop , self . number is not None
1 |t g [ 0 ] = Gathering ( NULL , 0 , 0 , NULL )
1 |t cdef public double min_label , max_label
1 |t letter = < uint 8 _t > p [ 0 ]
-1 |t s . say ( f " num sources = { int ( reads ) } " )
-1 |t gap = - at % ALIGNMENT
-1 |t for batch in self . _completed ( parsed )
-1 |t " A baseline for the others . Weights step over zero and back , and hardly ever are zero - - round - at - end leaves "
1 |t c . u = copysign ( new , w )
1 |t SCALARS = [ " t " , " norm_sum " , " weight_sum " ]
-1 |t def _checked_weights ( weights ArrayLike , v Vector ) - > Vector
-1 |t def _shaped ( self , batch Batch , names Names None ) - > tuple [ Batch , Names None ]
-1 |t product = 1 . 0
-1 |t # What each learns from is its score in the prediction , clipped to the labels of the examples before .
1 |t cdef bint out_of_memory # an update could not get memory the learner ends
-1 |t if a . get ( name )
1 |t " " " w _ 1 = S - R Theta " " "
1 |t uint 32 _t at
-1 |t class Multilabels ( Packed )
-1 |t make = CsvParser ( a , features , self . streams ) . line
1 |t cdef double goal ( self ) noexcept nogil
-1 |t CHUNK = 1 < < 16 # lines written at a time
-1 |t " One rate for all features , so scale them alike . It makes no weight zero the measure of what the others cost . " ,
-1 |t return array . array ( " I " , found ) , array . array ( " d " , [ weight for weight , _ in found . values ( ) ] )
-1 |t found . append ( " g = h l ' ( p , y ) x , the gradient " )
-1 |t def results ( self ) - > dict [ str , Any ]
1 |t if likely ( next ! = NULL )
-1 |t " " " Standard output . WriteError if it cannot be written , ClosedPipe if its reader has gone .
-1 |t " " " Learn the matches that the class comes to , as the model lets it win and lose ; which tournaments it wins . " " "
1 |t BINARY = 1 # - 1 or 1
1 |t cdef int know ( self , const Arrays * a ) noexcept nogil
1 |t if s . u = = UNTOUCHED
-1 |t if " ngram " not in a
-1 |t def _judge ( self , e Current ) - > None
1 |t entry = bucket . entries [ j ]
-1 |t more dict [ str , Array ] = field ( default_factory = dict ) # what the rule keeps beside , a row of numbers each
-1 |t labels = np . asarray ( told . labels , np . float 32 )
-1 |t main , side , k = self . main , self . side , self . k
1 |t " " " Add a feature to the sums . " " "
1 |t " " " The state that is not per feature , by name . " " "
-1 |t from collections . abc import Iterable , Iterator
1 |t def contraction ( self , value )
1 |t self . unseen = self . first_weight ( ) if self . touched < self . features else 0
1 |t keys = self . expander . part . keys
-1 |t self . g + = force
-1 |t times = len ( list ( run ) )
-1 |t with formatter . section ( name )
-1 |t vwlite train day 1 . vw . gz - - loss logistic - m clicks . model
1 |t " " " Add a line . spans for each span its letter , the hashes and the values of its features , as sequences .
-1 |t self . grows = False
-1 |t def find_cache ( self ) - > bool
1 |t for i in range ( self . table . capacity + 1 )
-1 |t class Refused ( VwliteError )
-1 |t self . stopped = False
1 |t self . make_table ( self . slot_size ( ) , self . blank ( ) , 1 )
1 |t uint 64 _t more # bytes 8 to 14
-1 |t typed [ " constant " ] = False
-1 |t resolved = resolve ( o , model . settings if model else None )
1 |t cdef uint 64 _t constant # the mark of the constant feature ; 2 ^ 32 , which no slot has , if there is none
-1 |t for slot , x in entry . iter_unpack ( rest )
1 |t self , const double [ 1 ] p , const double [ 1 ] y , double [ 1 ] value , double [ 1 ] slope , double [ 1 ] curvature
1 |t cdef size_t i , unknown = 0
-1 |t " " " Give up what was not committed , and the lock . " " "
-1 |t " " " Each live slot its key and floats . " " "
1 |t def check_numbers ( self , str domain = " any " , size_t classes = 0 )
-1 |t if wanted is not None # before the bytes this is quick
1 |t c . w [ i ] = s . w
-1 |t Weights and all that is kept for each of them are single precision , and sums over examples and weights are made in
1 |t Bytes behind every line must be readable , so the last lines of a block are parsed in a padded copy ;
-1 |t weight = held . weight - s . holdout_weight_since_pass
1 |t return self . classes . rules [ self . class_of ( model ) ]
1 |t cdef void probabilities ( self , size_t named , double * out ) noexcept nogil
1 |t cdef double to_coarse , to_fine , from_coarse , from_fine # numbers as counts , and back
1 |t cdef int 128 squares # then the sum of a ^ 2 over the active set , as ` square ` counts it
-1 |t oaa . name + = " - raw "
1 |t for _i in range ( POWERS )
1 |t if words or line . startswith ( b " # " )
-1 |t self . _update ( e , ids , found )
1 |t def vector ( self )
1 |t if make_room ( < void * * > & self . scratch , & self . scratch_capacity , part . size , sizeof ( double ) )
1 |t return e . initial + sum
-1 |t self . streams . info ( f " Number of weak learners = { rounds } " )
1 |t cdef struct Trouble
-1 |t # What an option needs to mean something . Vowpal Wabbit warns of one that stands alone , names these , and ignores it .
-1 |t def _diverged ( self , batch Batch , line int ) - > DataError
-1 |t predictions p str where to write predictions
-1 |t raise Critical ( f " the required argument for option ' - - { option . name } ' is missing " , _FILE , 144 )
-1 |t from vwlite . vw . layers . base import Current
-1 |t both [ np . searchsorted ( self . keys , found > > 1 ) , found & 1 ] = np . asarray ( floats , np . float 32 )
1 |t out = array . array ( " I " , bytes ( 4 * numbers . shape [ 0 ] ) )
1 |t Once everything that is looked for has been seen , ` look ` costs nothing .
-1 |t " AdaGrad with the matrix of all products of gradients where adagrad has its diagonal it sees which features "
-1 |t def _bare_spaces ( e Current , s Setup , shift int ) - > Spaces
-1 |t options = { }
-1 |t if isinstance ( result , BaseException )
-1 |t " importance negative " " importance ' { token } ' is negative " ,
1 |t if self . each = = NULL or self . scores = = NULL or self . outcomes = = NULL
-1 |t f " save_resume functionality is known to have inaccuracy in model files version less than ' { since } ' "
-1 |t if len ( words ) > 3
1 |t features d ; if it is 0 , the number of features in the examples learned so far , the constant left out .
1 |t def features ( self )
1 |t if p [ 0 ] = = c ' \ r ' and p [ 1 ] = = c ' \ n '
-1 |t text = f " { ' - nan ' < { len ( text ) } } "
1 |t cdef public bint finished # the weights are wanted as they are after the last example of all
1 |t raise MemoryError ( " no memory for the slots in order " )
1 |t if out ! = NULL
1 |t want = max ( want + 1 , 2 * self . line_capacity )
1 |t if batch . a . distinct
1 |t out = bytearray ( n * ( head + 4 * width ) )
1 |t for depth in range ( order )
1 |t for key , x in sums . items ( )
-1 |t data = owner . view ( owner . begin - front , end )
1 |t " " " Make room for n more features ; - 1 no memory . " " "
-1 |t def _compare_options ( old Any , new dict [ str , Any ] ) - > None
-1 |t _WHOLE = ( " example_number " , " total_features " , " current_pass " )
-1 |t learner = scalar . Bootstrap ( learner , a [ " bootstrap " ] , a . get ( " bs_type " , " mean " ) , s , loss )
-1 |t def _lines ( file " _File " , index int , block_size int , max_line int ) - > Iterator [ Block Fault ]
1 |t if not isfinite ( total ) and not all_finite ( & v [ 0 ] , n )
1 |t outside of the box , the feature takes part as it is .
1 |t self . settings . domain = domains [ label_domain ]
1 |t cdef double eta , slope = o . importance * o . slope
-1 |t theta = ( mu [ rho ] . sum ( ) - z ) / rho
-1 |t floats = array ( " f " )
-1 |t context_settings = { " ignore_unknown_options " True , " allow_interspersed_args " False , " help_option_names " [ ] } ,
1 |t self . sum_up ( & S , & R )
1 |t square , size = TINY_SQUARE , TINY
1 |t cdef inline int take ( Queue * queue , uint 32 _t to , Bucket * due ) noexcept nogil
-1 |t self . _domain , self . _most = _labels ( index )
1 |t cdef void advance ( self , double shift ) noexcept nogil
1 |t void spread " vwlite_spread " ( const uint 32 _t * bits , size_t n , uint 32 _t * least , uint 32 _t * largest ) noexcept nogil
-1 |t print ( text , file = sys . stderr )
1 |t cdef class Expander
1 |t if s . h 1 < = 0
-1 |t def _help ( self ) - > None
1 |t and self . expander . expand ( a , line + 1 , ( line + 1 ) & 1 , self . numbered ) = = WHOLE )
1 |t return copysign ( rest - more * c , w )
1 |t eq . 12 . With a rule that projects , each class has a ball of its own .
-1 |t help = " Use only namespaces that begin with one of these letters . " ) ,
1 |t if self . used + missing > self . limit
-1 |t scaled = np . ones_like ( size ) if a is None else a / a_unit
-1 |t models = layers . count_models ( a )
1 |t self . p = max ( 2 . 0 , 2 * log ( < double > max ( d , < uint 64 _t > 1 ) ) )
1 |t memcpy ( self . a . value + to , value + starts [ j ] , 4 * size )
1 |t " " " Empty books and queue ; the cells are as they were . " " "
-1 |t if re . fullmatch ( r " [ 1 - 9 ] \ d * " , token )
-1 |t return WriteError (
-1 |t layer = self . learner
1 |t cdef double scale = 1 / self . unit , base = self . base , lightest = self . lightest
1 |t return self . rules [ 0 ] . wound
1 |t nameless + = 1
1 |t free ( self . outcomes )
1 |t free ( self . confusion )
1 |t for j in range ( self . due . size )
1 |t " " " The weight now , with everything that the slot has missed . " " "
-1 |t binary = a . get ( " output_feature_regularizer_binary " , a . get ( " final_regressor " ) )
1 |t more = first_bytes ( more , n & 7 )
-1 |t " format " int , " program " str , " algorithm " str , " loss " str , " options " dict , " counters " dict , " rule " dict ,
1 |t if s . mark ! = self . constant and fabs ( s . z ) < = self . l 1
-1 |t view = view [ os . write ( fd , view [ 1 < < 30 ] ) ]
-1 |t skip bool = False # go on after a bad line
-1 |t from vwlite . algorithms . table import ALGORITHMS
-1 |t from vwlite . algorithms . table import LOSSES
1 |t " " " The number of a name , 0 if there is none . " " "
-1 |t if learner . distinct_labels = = 1 and learner . examples > 1
-1 |t for i in range ( self . k )
-1 |t " " " How many linear models the reductions need , before it is rounded up to a power of two .
-1 |t _close ( self . _lock )
1 |t name = name_at ( p , window , space , strings )
-1 |t " " " Throw away what was written . " " "
-1 |t _TYPES = { code name for name , code in CODES . items ( ) }
-1 |t if self . bad . count
1 |t cdef int n = 0
1 |t " " " T 1 ( v , a , theta ) as soft_threshold , but only where v < = theta ( Langford , Li , Zhang 2009 , section 3 . 3 ) . " " "
1 |t " " " S + = x " " "
-1 |t raise CacheUnusable ( os . strerror ( errno . EISDIR ) if stat . S_ISDIR ( info . st_mode ) else " it is not a regular file " )
-1 |t groups . setdefault ( " Options " , groups . pop ( " Options " , [ ] ) ) # - - help comes last
1 |t cdef readonly double label , prediction
1 |t self . top = max ( self . top , 0 )
-1 |t from vwlite . core . vw . pistol import Pistol
-1 |t numbers = [ x for one in ( pair . mean , pair . features ) for x in ( one . regret , one . size , one . weight ) ]
1 |t cdef double SETTLED = 8 # examples
1 |t free ( self . data )
1 |t cdef uint 32 _t code
-1 |t n_low = ( s . weighted_labels - high * weight ) / ( low - high )
1 |t cdef uint 64 _t n = self . constant
-1 |t " 9 " ,
1 |t cdef inline double mean ( self , const AveragedSlot * s ) noexcept nogil
1 |t cdef Run * inner = & self . runs [ letters [ order - 1 ] ]
-1 |t return self . low , self . high , False
1 |t double * label # [ lines ] NaN where the line has none
1 |t distinct + = 1
1 |t self . places [ at ] = number
1 |t v . S [ i ] = s . S
1 |t if free_bytes is not None and LISTED * self . size > free_bytes
-1 |t classes = learner . names . first ( learner . named ) if settings . classes = = " auto " else [ ] ,
1 |t double g = step * x [ i ] , before = root [ i ] ; \ \
1 |t def unseen ( self , double w )
1 |t and self . level_since ( s . since ) . u < s . u )
-1 |t size float = 0 . 0 # sum of squared regrets
-1 |t " " " The number of nonzero weights ; that of an earlier row , marked ~ , when counting again would take longer
-1 |t except ( TypeError , ValueError ) as e
1 |t self . low [ k ] , self . high [ k ] = scalars [ " min_label " ] [ k ] , scalars [ " max_label " ] [ k ]
-1 |t if value ! = " auto " and len ( names ) < 2
-1 |t " " " What became of the model of an interrupted run , as the end of a sentence . " " "
-1 |t " " " What only ` vwlite vw ` needs . Nothing outside of it imports it . " " "
1 |t " " " Subgradient descent on the l 1 - regularised loss w < - w - eta_t g_t - c_t sgn ( w ) , c_t = eta_t l 1 , applied lazily .
-1 |t self . _checkpoint ( )
1 |t The solution is w_i = sign ( v_i ) max ( v_i - theta / H_i , 0 ) , theta = ( sum of v_i - radius ) / ( sum of 1 / H_i ) , both sums
-1 |t " " " The experts of an id its mean , and the linear model . " " "
1 |t self . a . features + = features
-1 |t def _run ( self , e Current , learns bool ) - > None
-1 |t vote + = weight * found
-1 |t def __init__ ( self , size int ) - > None
1 |t if index < = LARGEST_INDEX
-1 |t from vwlite . runs . signals import StopSignal
1 |t the next address wait for the last byte . Compilers prefer the latter this stops them . * /
-1 |t def names ( self , e Current ) - > list [ bytes ]
-1 |t ( " l 1 " , " l 1 - ball " ) " the ball ' s - - radius is its strength " ,
-1 |t self . _best_strength float None = None
-1 |t " index repeated " " feature index { token } is repeated " ,
-1 |t if settings . loss = = " quantile "
-1 |t weights = class_weights ( a [ " classweight " ] , s . streams ) if " classweight " in a else None
1 |t " " " Stochastic projected subgradient on the simplex w < - P ( w - eta_t g ) , w > = 0 and sum w = z after every example .
1 |t " " " A key is ( ( hash < < shift ) + model & mask ) > > less . " " "
1 |t elif ( self . queue . size + self . heap_size > 2 * self . active + 1024
1 |t self . shift = 64 - bits
-1 |t if not a . flag ( " predict_only_model " )
1 |t skip = 0
-1 |t " " " ` vwlite check ` " " "
1 |t self . heap_size = 0
1 |t def restart ( self , double strength )
-1 |t count , begin = 0 , self . next
1 |t if self . is_libsvm
-1 |t self . parse ( e )
-1 |t if name = = " average "
-1 |t if self . run . arguments . flag ( " onethread " ) and not self . run . source . cached_now
1 |t cdef size_t offset # of that record
-1 |t cut = self . learner . cut
-1 |t _DESCRIPTOR = 24 # bytes at most that a zip has behind the content of a member
-1 |t if data [ len ( _NPY ) ] ! = _NPY or not described
1 |t if link = = Link . LOGISTIC
-1 |t options [ " names " ] = make_names ( settings , names , grows = options . get ( " learn " , True ) )
-1 |t return self . line [ begin self . at ]
1 |t cdef public double area # the sum of A_ 0 , . . . , A_ { t - 1 }
-1 |t self . streams . info ( f " Gamma = { shortest ( self . gamma ) } " )
-1 |t help = " One loss for all classes together , the multinomial logistic one . [ algorithm l 1 - ball , a ball for "
1 |t cdef Features part
-1 |t ring_size - int the same as - - example_queue_limit
-1 |t return self . base . saved_text ( )
-1 |t self . columns = np . zeros ( 0 , np . intp )
-1 |t return 0 . 0
-1 |t hessian_on - bool use the curvature of the loss
1 |t cdef bint all_finite ( const double * v , size_t n ) noexcept nogil
-1 |t weight = self . holdout_weight_since_pass
1 |t o . value [ depth ] = o . value [ depth - 1 ] * run . value [ at [ depth ] ]
-1 |t " " " Read what is in a file from a place on . " " "
-1 |t magics = ( GZIP , BZIP 2 , XZ , ZSTD , * ZSTD_SKIPPABLE , * UNSUPPORTED )
1 |t " " " The features of an enormous example , a piece at a time . See pieces . pyx . " " "
1 |t cdef class PoissonDeviance ( Poisson )
-1 |t " importance " " importance " ,
1 |t cdef void enter_all ( self ) noexcept nogil
-1 |t " " " What to look for in the data the namespaces that options name . " " "
-1 |t weights . g [ ] = 0
1 |t slot = self . slots + i * self . stride
-1 |t if others and not any ( other in a for other in ( * others , * more ) )
1 |t cdef double to_square , from_square
1 |t if found > = z
1 |t cdef double h = 0 , norms = 0 , power_t = self . schedule . power_t , step , bare , square
1 |t " " " The first level with this name or a later one , or NO_LEVEL . " " "
1 |t root [ i ] = sqrt ( before * before + g * g ) ; \ \
1 |t cdef int 32 _t old_block
-1 |t if len ( more ) ! = ( 0 if shared else 1 )
-1 |t if not ( adaptive and normalized ) and " learning_rate " not in a
-1 |t _option ( " - - l 2 " , group = _LEARN , type = Number ( 0 ) , show_default = " 0 " , help = " Strength of l 2 regularisation . " ) ,
1 |t r = rate [ i ]
1 |t " " " The importance - aware step u the prediction moves by h * u . " " "
-1 |t help = " l 1 - ball how much each feature counts in the sum ; lines of NAMESPACE ^ NAME WEIGHT . [ default 1 ] " ) ,
1 |t H = delta + sqrt ( S [ i ] ) ; \ \
-1 |t for name , x in defaults . items ( )
-1 |t QUIET = [ " - Wno - unused - function " , " - Wno - unreachable - code " , " - Wno - sign - compare " ]
1 |t B . With weights or box ( ` breakpoint_search ` ) . sum a_i w_i falls in theta , and is linear between the breakpoints v_i / a_i
-1 |t if self . setup . batch . weights is not None
1 |t cdef readonly double radius # z
-1 |t initial str None = None
-1 |t norm = float ( np . abs ( weights [ counted ] ) . sum ( ) )
-1 |t from vwlite . vw . plan import Setup
-1 |t out [ ] = vector
1 |t return take_class ( s , p , end , label , trouble )
-1 |t from typing import TYPE_CHECKING , Any , TypeAlias
-1 |t if WILDCARD not in pattern
1 |t copy ( self . values , self . expander . f . values , self . size * 4 )
-1 |t " " " The header of a binary model , and what comes behind it . Critical if the file is no model or damaged . " " "
-1 |t yield Piece ( content , 0 , len ( content ) )
1 |t while p [ 0 ] = = c ' ' or p [ 0 ] = = c ' \ t '
1 |t cdef uint 32 _t class_of ( self , uint 32 _t key ) noexcept
-1 |t def _predictor ( model Model , settings Settings , path str , options dict [ str , Any ] ) - > Learner
-1 |t for letter , run in groupby ( term )
-1 |t cells = [ [ number ( x ) if float ( x ) . is_integer ( ) else f " { x . 1 f } " for x in row ] for row in rows ]
-1 |t " " " Vowpal Wabbit ' s number for a seed . " " "
-1 |t self . fail ( f " { value ! r } a letter that no namespace can begin with " , param , ctx )
1 |t if count = = 0
-1 |t def merge_options ( arguments Arguments , header Header ) - > bool
-1 |t raise CannotCreateError ( f " { path } not a regular file , so it cannot hold a cache " )
-1 |t statistics = s . statistics
1 |t if size > 0 and product > ( < uint 64 _t > 1 < < 62 ) / size
1 |t " " " The LF of this line . " " "
-1 |t def _lrqfa ( a Arguments ) - > tuple [ str , int ]
1 |t # The mantissa has lost digits take them from the text , and count where they begin anew .
-1 |t if record is not None and isinstance ( parameter , click . Option )
-1 |t self . _ended = False
-1 |t if learns and w = = 0
-1 |t " ones become zero . " ) ,
-1 |t yield self . _shaped ( batch , names )
1 |t self . contraction * = 1 - self . l 2 * bare
1 |t cdef bint is_scattered ( const Arrays * a , size_t line , uint 32 _t * seen ) noexcept nogil
1 |t add ( & self . S , fabs ( s . z ) * s . inverse )
1 |t from vwlite . core . rules . distinct cimport dot
-1 |t type = Number ( 0 , open_low = True ) , show_default = " 0 . 5 " , help = " The learning rate at the beginning . " ) ,
-1 |t def __init__ ( self , base Layer , circuit Circuit , s Setup , boundary float ) - > None
-1 |t s . streams . info ( f " Interacting namespaces { letters [ 0 ] } and { letters [ 1 ] } " )
-1 |t def _is_in_place ( self , lock int ) - > bool
-1 |t at , parent , factor = stack . pop ( )
-1 |t super ( ) . end_pass ( )
-1 |t def next ( self ) - > float
-1 |t rate = settings . learning_rate ,
1 |t batch . a . lines , batch . a . spans = begun . lines , begun . spans
1 |t super ( ) . __init__ ( * arguments , * * options )
1 |t cdef double new = min ( fabs ( v ) / s . a + self . shift , largest / max ( s . a * s . a , 1 . 0 ) )
-1 |t " - - ftrl - alpha 0 . 01 - - l 1 1 " ,
-1 |t while not self . _ends ( b " \ r " ) and self . line [ self . at ] in b " \ t "
-1 |t For NAME they are . NAME . RANDOM . tmp and . NAME . lock . The folder may be shared with people whom nobody knows , so what
-1 |t def _freeze ( self ) - > Weights
-1 |t " " " Where examples come from the data or its cache , as batches of the engine , with names where they are wanted .
-1 |t def warn_of_update ( self , rule Rule ) - > None
1 |t ANY = 0
1 |t return text . write ( b " ? " , 1 )
-1 |t self . say ( f " { self . passes + 1 > 2 } { average } { self . _magnitudes ( weights ) } " )
1 |t s = all [ i ]
-1 |t " " " Knows the names of the example at hand . " " "
-1 |t def _judge ( self , weights Weights , holdout float None ) - > None
1 |t cdef void enter ( self , double m , int 64 _t block ) noexcept nogil
1 |t at + = sizes [ 3 ]
-1 |t def _status ( source str ) - > os . stat_result
-1 |t " Small weights are set to zero every K examples . Choose a period in which a weight that matters can grow "
-1 |t letters = [ letter for one , other , _ in pairs for letter in ( one , other ) ]
1 |t memset ( & self . a , 0 , sizeof ( Arrays ) )
-1 |t self . buffer . clear ( )
-1 |t kept = header . options
-1 |t return float ( one . prediction )
-1 |t f " internal error { type ( e ) . __name__ } { e } ( VWLITE_DEBUG = 1 shows where ; please report it ) " ,
1 |t p = vw_header ( s , batch , p , trouble )
-1 |t command str # options with which a run on data / breast_cancer . train . vw learns something
1 |t step / = self . contraction
1 |t self . blank = < char * > calloc ( 1 , self . stride )
-1 |t def _feature ( self ) - > None
-1 |t " " " The options that the model keeps . " " "
1 |t static inline uint 32 _t vwlite_mix ( uint 32 _t h , uint 32 _t k ) {
1 |t area + = self . positive [ i ] * ( below + self . negative [ i ] / 2 )
1 |t for k in range ( self . terms )
-1 |t " - l 0 . 01 - - radius 1 " ,
-1 |t atoms = [ ( key & mask , x ) for key , x in zip ( * self . stepper . features ( ) , strict = True ) ]
-1 |t initial = e . initial
-1 |t def expanded_names (
1 |t " " " sum + = x ; what the high part loses goes into the low one ( Knuth ' s two - sum ) . " " "
1 |t cdef uint 32 _t * spelled # owned ; the hashes of a view of a numbered batch
1 |t # The name of a namespace and its hash .
-1 |t besides dict [ str , _Beside ] = { }
-1 |t bottom . more_squares = Squares (
-1 |t return float ( value )
-1 |t weights . go ( self . step )
-1 |t if not sign
-1 |t self . more_squares Callable [ [ Current ] , float ] None = None
-1 |t if self . pass_number > 1 # not after the last one a model that is continued goes on from its rate
1 |t cdef object patterns , concrete
1 |t self . penalized = np . full ( size , np . nan )
-1 |t if len ( best ) = = self . k and self . k and best [ 0 ] . prediction < e . prediction
-1 |t self . _file = AtomicFile ( path )
-1 |t return Settings (
-1 |t The first pass takes down the features that come by ; the later ones are made from those notes . They rely on the
-1 |t if count > MODELS
-1 |t _option ( " - - ftrl - beta " , " ftrl_beta " , group = _LEARN , vw = ( " - - ftrl_beta " , ) , type = Number ( 0 , open_low = True ) ,
-1 |t signal . set_wakeup_fd ( self . _wakeup_before )
1 |t if self . begin ( & part , e )
1 |t # define VWLITE_ADAGRAD_STEP ( name , Value ) \ \
1 |t if self . touched < self . features
-1 |t one is the weight of the next . Learned by gradient descent they do so here .
-1 |t if self . _fd is None
-1 |t def __init__ ( self , options ParseOptions , number bool = False ) - > None
-1 |t def header ( self ) - > dict [ str , Any ]
-1 |t if len ( bad )
1 |t uint 32 _t code # the parser ' s ; its text is the parser ' s business
1 |t index = index * 10 + < uint 64 _t > ( p [ 0 ] - c ' 0 ' )
-1 |t self . v [ i ] = to_float ( self . v [ i ] * 0 . 36788 )
-1 |t self . marginals [ key ] = self . initial
-1 |t self . _rest = rest
1 |t cdef inline size_t random_below ( uint 64 _t * state , size_t n ) noexcept nogil
-1 |t def looks_like_model ( path str ) - > bool
-1 |t features = make_features ( a , s )
-1 |t if number and self . stopped
1 |t cpdef enum Reason
1 |t cdef double LARGEST = 1 . 1 # a its power is below 2 ^ 7 times the unit , for any p that 2 ^ 32 features make
-1 |t from bisect import insort
1 |t c max theta , c = ( p eps / d ) ^ ( 1 / p ) , add up to less than p eps of the p - th power , so eps of the norm . The others , the
-1 |t " " " Everything that a run is made of . " " "
1 |t The parser fills a batch , the learner reads it , the cache keeps it on disk byte for byte as it
1 |t if numbers . format = = " d "
1 |t from vwlite . runs . memory import available , table_needs
1 |t for j in range ( BUCKETS )
1 |t for hash , value in zip ( hashes , values )
-1 |t os . fsync ( folder )
-1 |t " " " The learner with a buffer of examples , if one is wanted . " " "
-1 |t if slots [ place + 1 ] & PARENT
-1 |t if a . flag ( " sgd " ) or any ( flags . values ( ) )
-1 |t if threads = = 1
-1 |t raise CacheUnusable ( " it is of another version of the format " )
-1 |t options = index . made_from . get ( " options " )
-1 |t WITH_ID Version = ( 8 , 0 , 3 )
-1 |t " w_i = radius / d at the beginning " ,
1 |t cdef Example e = self . example ( initial , 1 )
1 |t return 2 * self . factor ( p , y )
-1 |t def save_binary ( self , path str ) - > None
1 |t while < uint 8 _t > ( q [ 0 ] - c ' 0 ' ) < = 9
-1 |t from collections . abc import Callable , Iterable , Iterator , Sequence
-1 |t for key , value in pairs
-1 |t line = bytes ( block . data [ 200 ] ) . split ( b " \ n " ) [ 0 ]
1 |t def inverses ( self )
1 |t step = self . loss . invariant_step ( o . p , o . label , o . slope , eta , h ) if self . invariant else - eta * o . slope
-1 |t from vwlite . errors import UsageError
1 |t if self . clips
1 |t - All theta_j shrink by the same amount in a step as in the l 1 ball , a nonzero theta is a raw magnitude u and one
-1 |t OUTPUT = 533357803 # the hash of the first weight behind the hidden layer
-1 |t " " " Whether later passes need not go through the examples one by one . " " "
-1 |t if s . sums_squares and ( s . not_linear or self . shape . limits or self . source . sort )
1 |t cdef inline double scale ( self ) noexcept nogil
-1 |t shaping = { " order of classes " self . _named }
1 |t cdef inline bint met ( void * slot , uint 32 _t number ) noexcept nogil
-1 |t from vwlite . vw . models . binary import Layout
1 |t cdef inline int forget ( Memory * m , double t , double shift , double area ) noexcept nogil
-1 |t _option ( " - - ftrl - alpha " , " ftrl_alpha " , group = _LEARN , vw = ( " - - ftrl_alpha " , ) , type = Number ( 0 , open_low = True ) ,
-1 |t elif name in ( " learning_rate " , " power_t " , " random_seed " , " hash_seed " , " l 1 _state " , " l 2 _state " )
-1 |t text , value , scale = b " " , 1 . 0 , self . scale
-1 |t if len ( cells ) ! = len ( self . columns )
-1 |t self . width , self . kind , self . setup , self . random , self . loss = rounds , kind , s , s . random , loss
1 |t surprise = self . classifier . surprise ( < size_t > o . label , self . named )
-1 |t " " " Let the model behind the hidden units predict , and learn ; what the units give to it . " " "
1 |t return copysign ( size - missed , s . w )
-1 |t def _slots ( rule Rule , keys Array , fields dict [ str , Array ] ) - > bytearray
-1 |t " " " Objects become examples , one a line ; see the README for what stands for what . " " "
-1 |t from vwlite . vw . layers . stage_poly import StagePoly
1 |t cdef Features * f # the one that is being filled
-1 |t audit a bool print the features of each example with their weights
-1 |t found = [ ( [ * at , at [ - 1 ] + 1 + gap ] , left - gap ) for at , left in found for gap in range ( left + 1 ) ]
-1 |t _option ( " - - features " , group = _LEARN , type = Whole ( 1 , 1 < < 32 ) , metavar = " N " ,
1 |t cdef matrix ( self )
-1 |t if self . step < 1
-1 |t main . min_label , main . max_label , main . widens , e . model = low , high , widens , model
1 |t inside . It is the only place that knows what a slot means ; table , learner and model file ask it .
-1 |t _SENTENCES = {
1 |t self . size + = write_short ( self . data + self . size , number )
1 |t direction = None
-1 |t return f " The label { label } is not - 1 or 1 or in [ 0 , 1 ] as the hinge loss function expects . "
1 |t result . value = < float > ( < double > < int 64 _t > decimal ( word ) / SIGNED_POWERS [ negative ] [ 0 ] )
-1 |t " " " The layers over the linear model . " " "
1 |t cdef void sweep ( self ) noexcept nogil
-1 |t @ click . command ( " weights " , cls = Command )
-1 |t if not parsed . bad
-1 |t heappush ( heap , found )
1 |t static void vwlite_give_back ( void * memory , size_t bytes ) {
-1 |t self . old_weighted_labeled_examples = self . weighted_labeled_examples
1 |t for i in range ( self . waiting_size )
1 |t cdef size_t i , missing = 0
1 |t return copysign ( shrinking ( & self . memory , & s . account , size , s . gravity , self . gravity , self . t , self . area ) , s . w )
1 |t self . f . values = < float * > grown
-1 |t from vwlite . model . slots import CODES , Array , array_of
-1 |t def write_binary ( model Model , extra bytes = b " " ) - > bytes
1 |t uint 32 _t low = UINT 32 _MAX , high = 0 ;
-1 |t from vwlite . input . feature_weights import read_feature_weights
-1 |t write_model ( self . _best_model , self . _snapshot ( interrupted = False ) )
-1 |t kept = vote
-1 |t def _cache_path ( self ) - > str None
-1 |t return " it is empty "
1 |t w = exp ( 0 . 8 * x - 0 . 65 )
1 |t return Tally ( self . classifier . classes , probable = self . classifier . probable )
1 |t these models side by side , under the hash cut to ` bits - shift ` bits .
1 |t at a time . This way knows the whole grammar ; the columns know nothing that it does not .
-1 |t SMD = " S . Shalev - Shwartz , A . Tewari . Stochastic Methods for l 1 Regularized Loss Minimization . ICML 2009 "
-1 |t threading . Thread ( target = self . _run , args = ( parsing ( ) , ) , name = f " parser { i } " , daemon = True )
-1 |t self . _empty . put ( Batch ( ) )
1 |t numbered = numbered and self . takes_numbers ( a )
1 |t self . extend ( names )
1 |t self . drop ( < Slot * > s )
-1 |t permutations - bool cross a namespace with itself in any order
-1 |t e . made_names = [ b " " ] * len ( found )
-1 |t lies there already is never written a temporary file is always a new one , and only its owner may read it before it
1 |t elif y = = s . positive
-1 |t header = _header ( path , archive )
-1 |t number = ( number * 10 + digit - 0 x 30 ) & 0 xFFFFFFFF
-1 |t class Ect ( Layer )
1 |t def look ( self , Batch batch not None )
1 |t " " " A number in z / 2 ^ 70 . " " "
-1 |t whole = first if letter ! = 32 else b " ^ " + first
-1 |t elif name = = " logistic "
1 |t cdef float g , v , slope = < float > ( o . importance * o . slope ) , size = fabsf ( slope )
1 |t return self . merged ( out ) if self . strays else out
-1 |t place , data = self . _at , b " " . join ( batch . dump ( ) )
1 |t keeps its entry ; only when Theta comes to it , it is put in again with the bound of now . A weight that falls
-1 |t signals . __enter__ ( ) # for good what was there before would end what is left of the process with another code
-1 |t self . keeps = to_float ( 1 - to_float ( a . get ( " decay " , 0 . 0 ) ) )
-1 |t help = " Save the model on the way every 1000000 examples , or every 60 s . " ) ,
-1 |t from vwlite . vw . messages import Critical
1 |t self . begin ( start )
-1 |t won [ j ] = right
1 |t return pow ( self . norm_sum / self . weight_sum , self . schedule . power_t - 1 )
1 |t / * sign ( v ) max ( v - a , 0 ) , for a > = 0 ; never - 0 . * /
1 |t if learns and not self . classifier . judge ( < size_t > o . label , o . importance , self . named )
1 |t MOST_FEATURES = MARKS + FULL
-1 |t return rule , f " ftrl - { called } "
1 |t np = numpy
-1 |t if " bfgs " in a
-1 |t - - feature_limit some of what was left out . The squares of interactions are made of these sums .
-1 |t if found . weight < = TOLERANCE or key = = self . root or slots [ 2 * key + 1 ] & PARENT
-1 |t self . _report ( )
1 |t t = 1 + w
-1 |t side . loss = self . loss
-1 |t return root * root
-1 |t return s . weighted_labels / weight , None
-1 |t " " " Predicts and learns each line by itself . " " "
1 |t s . bound = INFINITY # so that another entry of it is stale
1 |t NEAR = 1 < < 21 # bytes of a table that is in the cache anyway nothing to prefetch
-1 |t left , right = ( other , one ) if odd else ( one , other )
-1 |t smallest , largest = a . min ( ) , a . max ( )
1 |t return vwlite_read_values_body ( n , text , more , length , value ) ;
1 |t from libc . stdlib cimport free , malloc , qsort
-1 |t hash , called = f . hash ( name , seed ) , name
1 |t cdef Columns c = self . columns
1 |t " " " P ( w - eta_t g ) onto w _ 1 < = radius ; with ` nonnegative ` , and w > = 0 " " "
1 |t for i in range ( self . found . size )
-1 |t self . learner = Learner (
-1 |t " multiplies C . " ,
-1 |t h . longer = [ source . take ( source . number ( " < I " ) ) . decode ( " latin - 1 " ) for _ in range ( source . number ( " < I " ) ) ]
-1 |t if isinstance ( value , list )
1 |t cdef uint 32 _t * known_keys # owned
-1 |t self . base = base
-1 |t if item . bad and not skip
1 |t def hash ( self )
1 |t return ftrl_weight ( s . z , s . root , self . inverse_alpha , self . beta , 0 , 0 )
-1 |t rate = total * * - self . power_t if total > 0 else 0 . 0
-1 |t self . rows . add ( keys , values , e . initial )
-1 |t def _buffer ( entries list [ Entry ] ) - > bytearray
1 |t A = np . flatnonzero ( used )
-1 |t def labelled ( self ) - > bool
-1 |t " " " What the rule calls a field . " " "
-1 |t return ( " w " , * ( ( " G " , ) if a . flag ( " adaptive " ) else ( ) ) , * ( ( " N " , ) if a . flag ( " normalized " ) else ( ) ) )
-1 |t return str ( self . _number ( e ) )
-1 |t " 0 . 01 . " ,
1 |t copy ( self . a . label + self . a . lines , other . a . label + begin , 8 * lines )
-1 |t self . say ( column ( wolfe 1 , " < 10 f " ) + column ( wolfe 2 , " < 10 f " ) )
1 |t cdef double score ( self , const Example * e , bint learns ) noexcept nogil
1 |t if grow ( < void * * > & self . a . number , 2 * n , 2 )
1 |t if self . examples > = self . checkpoint_at
-1 |t self . _held = b " "
1 |t cdef void move_any ( self , const Example * e , double step ) noexcept nogil
1 |t if copy = = NULL
1 |t Crammer , Kulesza , Dredze . Adaptive Regularization of Weight Vectors . NIPS 2009 ; figure 1 , equations 7 and 9 .
-1 |t mem - int steps that - - bfgs remembers
-1 |t self . streams . error ( f " Error { len ( words ) } is too many tokens for a simple label { shown } " )
-1 |t shown , loss , confidence = e . prediction , e . loss , e . confidence
-1 |t if a . flag ( " audit " )
-1 |t return name in self . values
-1 |t end = match . end ( ) if match else 0
-1 |t raise ValueError ( f " v is empty no numbers have a sum of { z } " )
1 |t except np . linalg . LinAlgError # G is not finite
-1 |t near + = [ name for name in ALGORITHMS if name . startswith ( value . lower ( ) ) and name not in near ]
-1 |t self . _rejects = Sink ( options . rejects , stack ) if options . rejects else None
-1 |t class Lrqfa ( Lrq )
-1 |t self . predict_with ( e , place - circuit . k )
1 |t cdef inline Level * level_since ( self , uint 64 _t since ) noexcept nogil
-1 |t self . features , self . streams , self . strict = features , streams , strict
-1 |t shape Shape = field ( default_factory = Shape )
-1 |t " " " The readable model ; with names , the inverted one . extra what reductions write before the state . " " "
-1 |t f " Duplicate namespace interactions were found . Removed { removed } . \ n "
1 |t number = read_float ( begin , end )
-1 |t more_ * what else some rules keep , such as a matrix , row after row
1 |t __asm__ volatile ( " " " memory " ) ; / * one store each a vector of them has to be put together * /
1 |t k + = x [ j ] > t
-1 |t " r_i = G_i ^ - power - t N_i ^ ( 2 power - t - 2 ) , by default 1 / ( sqrt ( G_i ) N_i ) ; c = M sum of x_i ^ 2 r_i \ n "
1 |t format " vw " or " libsvm " .
1 |t learn whether to learn at all . holdout_period every so many lines one is only predicted ; 0 none .
-1 |t keys + = [ key for key , _ , _ in products ]
1 |t self . go_on ( & part )
1 |t void vwlite_powers ( const double * x , double exponent , double * out , size_t n ) noexcept nogil
-1 |t if keep ( letter )
1 |t piece . batch , piece . data , piece . size = batch , data , size
-1 |t streams . warn (
-1 |t rule = Interleaved (
-1 |t self . _temporary . close ( )
-1 |t rows . append ( " \ n " . join ( _wrapped ( line , 20 , 2 ) for line in lines ) . replace ( " " * 20 , f " { a . name < 20 } " , 1 ) )
-1 |t keys = stepper . keys_of ( e . model )
-1 |t def _after ( self , e Current ) - > None
-1 |t self . features , self . streams = features , streams
-1 |t stop Callable [ [ ] , bool ] = lambda False ,
-1 |t if " log_level " in a
1 |t if not self . several
-1 |t s . total_features + = learner . features - learner . held_features - self . _features
-1 |t state = found . state or { }
-1 |t " " " A learner over another one . ` width ` how many of those it uses ; ` name ` as the header shows it .
-1 |t " " " About x , such that dividing by it and multiplying with it is exact . " " "
1 |t " " " The delimiters of a text , as long as there is room for them . " " "
1 |t top = largest ( & v [ 0 ] , n , simplex , & total )
-1 |t say ( f " algorithm = { s . algorithm } , loss = { loss } , { classes } { step } bits = { s . bits } { link } " )
-1 |t found . dictionaries . setdefault ( letter , [ ] ) . append ( _dictionary ( path , a , s , found ) )
-1 |t self . _one ( e , label - first , cost , learns and bool ( costs ) )
-1 |t cache_file str None = None
-1 |t with contextlib . suppress ( PermissionError ) # a file system without modes
1 |t while m < < uint 64 _t > 100000000000 # so that eight digits more fit
1 |t while capacity < 2 * most
1 |t cdef double linear = 0 # sum a v ,
-1 |t state = { n . removeprefix ( " state_ " ) _array ( archive , n , columns ) for n in names if n . startswith ( " state_ " ) } ,
-1 |t from vwlite . model . slots import field_of
-1 |t check_sources ( o . data )
1 |t if old > = self . lightest or u > = self . lightest
-1 |t self . stale [ self . last . counter % len ( self . stale ) ] = self . last . prediction
-1 |t shape . ngrams = per_space ( a [ " ngram " ] , " ngram " )
-1 |t raw_scores list [ tuple [ int , float ] ] None = None # of classes , to be written ; None nothing is
1 |t if likely ( digits > 0 and digits < 8 and are_digits ( word ) )
1 |t cdef double LARGEST_SHIFT = 1 e 5 # rebase when S outgrows this many radii see ` is_far `
-1 |t if name = = " freegrad "
1 |t # of the line that comes in pieces
-1 |t ( " l 1 " , " simplex " ) " the sum of its weights is its - - radius ; - - algorithm l 1 - ball shrinks with the radius " ,
1 |t cdef double breakpoint_search ( Coordinate * undecided , size_t n , double z , double b ) noexcept nogil
-1 |t shown = shown or ( e . prediction , e . partial )
1 |t g = self . gradient ( e , o . importance * o . slope )
1 |t found = k
-1 |t # Carriage returns within a line , and NUL , are characters like others ; to the module they are not . These stand for them
-1 |t def _single ( self , one Current , key int , model int ) - > float
-1 |t e . prediction = min ( max ( self . stepper . raw , low ) , high )
-1 |t return 0 if getattr ( self . run . setup . indexing , " first " , None ) = = 0 else 1
-1 |t if self . scales
1 |t cdef int 64 _t whole
-1 |t v ArrayLike ,
1 |t from libc . math cimport isfinite , sqrt
1 |t cdef Slot s
1 |t if self . restart and s . h / s . h 1 > s . S + 2
1 |t # define vwlite_load ( flag ) __atomic_load_n ( & ( flag ) , __ATOMIC_RELAXED )
1 |t " " " Raise the shift until w _ 1 < = z , and take the waiting cells into the queue .
1 |t VWLITE_CLONES static void vwlite_exponentials ( const double * x , double * out , size_t n ) {
1 |t if self . queue . size > 2 * self . active + 1024
1 |t cdef PieceMaker maker # of the features of an enormous line
1 |t def append ( self , int kind , double label , double importance , double initial , bytes tag , spans )
-1 |t if getattr ( e , " errno " , None ) in ( errno . EMFILE , errno . ENFILE ) or os . strerror ( errno . EMFILE ) in str ( e )
-1 |t streams = Streams ( )
1 |t self . settings . negative , self . settings . positive = self . labels
-1 |t " model " o . model ,
-1 |t def remember ( self ) - > None
1 |t cdef uint 64 _t digits
-1 |t for option in reversed ( options )
1 |t cdef class AveragedL 1 Ball ( L 1 Ball )
1 |t if self . linear [ letter ] and self . alive [ letter ]
-1 |t shown , e . weight = e . prediction , weight
-1 |t if self . sort
-1 |t self . factor , self . step = 2 . 0 , None
-1 |t _option ( " - - radius " , group = _LEARN , type = Number ( 1 e - 100 , 1 e 100 ) ,
1 |t f + = 0 # no negative zero
-1 |t stepper = self . bottom . stepper
1 |t _mm 512 _storeu_si 512 ( marks + count , _mm 512 _maskz_compress_epi 32 ( ( __mmask 16 ) bits , at ) ) ;
-1 |t if limit is not None
-1 |t from vwlite . errors import UsageError , VwliteError , WriteError
1 |t self . w - = eta * direction
-1 |t def _write ( path str , data bytes ) - > None
1 |t " " " Collect the state of features of the list , from a place on , as if they were an example ; - 1 no memory . " " "
1 |t # A batch without lines or spans still has its single closing zero .
-1 |t if bias = = 0 and not self . testing
-1 |t name getattr ( o , name )
-1 |t Vowpal Wabbit moves those that are kept to the front . Of its sum of squares it takes what stands behind them then ,
-1 |t s . interactions = patterns
-1 |t overlong = False # inside of a line that is too long its bytes are thrown away
1 |t " " " sum of a_i w_i = S - rho Theta " " "
1 |t self . cells [ i ] . u = u
1 |t index = 0
1 |t powers ( & power , self . p - 1 , & power , 1 )
-1 |t batch = Batch ( )
1 |t from libc . math cimport isnan
1 |t if not self . shift < = s . u < = LARGEST * self . scale
-1 |t def end_pass ( self ) - > None
-1 |t if not raw # there is a colon before it
1 |t return ( s . sum + ( self . t - s . since ) * s . w ) / self . t if self . t else 0
-1 |t if any ( b " " in pattern for pattern in s . interactions )
-1 |t space . hashes + = entry . hashes
1 |t cdef class Pa ( Rule )
-1 |t def _learn_one ( self , e Current ) - > None
1 |t self . unseen = radius / features
1 |t s . w * = self . rescaling ( s . N , size )
1 |t raise MemoryError ( " no memory to find the largest weights " )
1 |t batch . a . spans + = 1
-1 |t ( " radius " , " adagrad - ball " ) " The largest sum of weights . " ,
-1 |t count + = batch . feature_begin [ span + 1 ] - batch . feature_begin [ span ]
-1 |t Lines of ` NAMESPACE ^ NAME WEIGHT ` ( a name alone no namespace ) , as ` vwlite weights - - feature ` takes names . Blank lines
-1 |t if not _NUMBER . fullmatch ( text ) or not SMALLEST < = float ( text ) < = LARGEST
1 |t # - - - in pieces - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
-1 |t skipped how many bad lines it leaves out . classes the names that its labels are the numbers of .
1 |t self . push_entry ( self . due . entries [ i ] )
-1 |t say ( f " { self . count } bad line { ' s ' * ( self . count > 1 ) } skipped " )
1 |t No locale , no hexadecimal , no words such as nan . The result is exactly Python ' s
-1 |t self . _file . commit ( )
-1 |t s . streams . warn ( f " limiting to { limit } features for each namespace . " )
1 |t self . take_out ( s )
1 |t self . numbered = self . expander . takes_numbers ( & batch . a ) and not self . rule . counts_slots
1 |t cdef int i , failed = 0
1 |t cdef bint several # there are classes
-1 |t def _completed ( self , parsed Parsed ) - > Iterator [ Batch ]
1 |t const uint 32 _t * hash
-1 |t lines [ " total feature number " ] = learner . features
-1 |t best , score = label , e . partial
-1 |t raise DataError ( f " { b } ; that is bad line { self . count } , - - max - errors allows { self . _most } " )
-1 |t self . name = " csoaa_ldf " + ( " - rank " if rank else " - prob " if probabilities else " " )
1 |t next = p
1 |t self . each [ k ] = < void * > rule
-1 |t data = write_regularizer ( self . header ( ) , * self . setup . batch . next_regularizer ( ) )
1 |t CODES = (
-1 |t self . indexed = s . indexing . first
-1 |t while done < len ( view )
1 |t if grow ( < void * * > & self . a . tags , want , 1 )
1 |t cdef uint 32 _t k = self . class_of ( key )
-1 |t columns = [ found . floats [ i found . width ] for i in range ( found . width ) ]
1 |t if isinstance ( rule , Classifier )
-1 |t skips dict [ int , int ] = field ( default_factory = dict )
-1 |t last = statistics . current_pass = = self . passes
1 |t fine = llrint ( u * self . to_fine )
-1 |t if run . arguments . get ( " link " , " identity " ) ! = " identity " # it comes before scores are compared
1 |t " " " T 1 ( w - eta_t g , eta_t K l 1 , theta ) every K examples " " "
-1 |t sources = list ( sources ) or [ " - " ]
1 |t if m > = last
-1 |t if " top " in a
1 |t if w ! = 0 and s . mark ! = self . constant
1 |t if isnan ( step )
1 |t a product . Instead of n its root is kept . The constant has neither l 1 nor l 2 .
1 |t if bits & known = = found
1 |t def is_ascending ( const uint 32 _t [ 1 ] numbers )
-1 |t return replace ( model , slots = array ( " I " , ( model . slots [ i ] for i in order ) ) , floats = floats )
-1 |t " " " ` vwlite info ` " " "
1 |t cdef double s = 0 , t = - INFINITY , p , x , s_greater
-1 |t whole list [ bytes memoryview ] = [ ] # lines that are complete
1 |t cdef size_t steps_capacity , factors_capacity
1 |t s . m = 1
1 |t def wound ( self )
1 |t " " " The slot of the constant , of an example that has it . " " "
-1 |t def eof ( self ) - > bool
1 |t " " " Add the interactions of a line . " " "
1 |t LINE = 16 # numbers of a batch in a line of the cache
-1 |t CHAINED_CHECKSUM Version = ( 8 , 0 , 2 ) # of its chunks , one after the other
-1 |t self . direct = a . flag ( " direct " ) and not self . simulation
1 |t to [ before ] = 0
-1 |t feed = self . quick . feed if self . quick is not None else self . feed
1 |t hash [ n ] = < uint 32 _t > index + s . unnamed
-1 |t def add ( self , regret float , importance float ) - > None
1 |t cdef size_t n = head . shape [ 0 ]
-1 |t described + = b " " * ( - size % 64 ) + b " \ n "
-1 |t owner Piece None = None # the memory that ` data ` looks at , if it may be used again
-1 |t if len ( name ) < = room
-1 |t disk keeps busy . " " "
1 |t if self . cuts
1 |t point and up to seven digits , or of up to seven digits most text has nothing else . " " "
-1 |t # - - - the end - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
-1 |t def make_learner (
-1 |t if parts is None
1 |t cdef inline double change ( self , uint 32 _t key , double by ) noexcept nogil
-1 |t for field , kind in rule . SLOT
1 |t # include < sys / mman . h >
1 |t cdef readonly uint 32 _t room # K how many there may be
1 |t cdef char * * slots
-1 |t names of features or features made of names ( affixes , spellings , dictionaries ) .
-1 |t holdout = held ,
-1 |t def _is_number ( x Any ) - > bool
1 |t cdef uint 64 _t * heap # owned ; of bounds below that rank , place . The children of i are 4 i + 1 to 4 i + 4
1 |t cdef class SoftLogistic ( Logistic )
1 |t double beta , double l 1 , double l 2 , double * restrict z , double * restrict root , double * restrict w ) { \ \
1 |t norms + = unit * unit
1 |t from vwlite . core . rules . distinct cimport Distinct , dot , merge , release
1 |t if label_domain not in domains
1 |t which is eta_t soft ( z , A ) / H with z = - G and A = t l 1 .
1 |t return self . norm * ( m * of_block ( self . top - block ) - BLOCK / m * of_block ( self . top + block + 1 ) )
-1 |t from collections . abc import Callable , Iterator
1 |t hash_names ( n , & head [ 0 ] , & more [ 0 ] , & length [ 0 ] , & seed [ 0 ] , & hash [ 0 ] )
-1 |t With options . skip False the first bad line ends the stream , as the last thing in the last item . Leaving the
-1 |t round_at_end float = 0 . 0
-1 |t def fast_tanh ( x float ) - > float
1 |t cdef int add ( self , const char * text , size_t size ) noexcept nogil
-1 |t self . _write_model ( interrupted = True )
1 |t " " " Have room for so many levels , and NO_LEVEL behind the last one ; - 1 no memory . " " "
-1 |t weights = weights ,
-1 |t digest = hashlib . blake 2 b ( digest_size = 32 )
-1 |t " - - predictions " o . predictions , " - - raw - predictions " o . raw_predictions , " - - report " o . report ,
-1 |t self . name = " boosting " if kind = = " BBM " else f " boosting - { kind } "
1 |t cdef size_t i , at
-1 |t if abs ( ratio ( self . last_loss_sum - self . loss_sum , self . last_loss_sum ) ) < self . termination
1 |t self . apart , self . packed = apart , packed
-1 |t # help of ` train ` has several .
1 |t __m 128 i low = _mm_cmpeq_epi 8 ( _mm_min_epu 8 ( w , blank ) , w ) ;
-1 |t A fixed number of batches goes round a thread takes an empty one , fills it with the next block of the
1 |t for shift in range ( 56 , - 8 , - 8 )
-1 |t " cache " self . _cache_path ( ) ,
1 |t touched = np . flatnonzero ( g )
1 |t strength * = min ( max ( pow ( n / self . goal ( ) , GAIN ) , 0 . 25 ) , 4 . 0 )
1 |t " " " bits how many bits of the hash make the key . keep , ignore , ignore_linear first letters of
1 |t self . maker . find_constant ( )
-1 |t if key . startswith ( " _label_ " )
-1 |t def megabytes ( self ) - > int
1 |t qsort ( list , n , sizeof ( Slot * ) , by_key )
-1 |t " SIMPLE " Simple , " MULTICLASS " Multiclass , " CS " Costs , " MULTILABEL " Multilabels , " LINES " Lines ,
-1 |t return f " { value g } " . replace ( " e - 0 " , " e - " ) if isinstance ( value , float ) else str ( value )
-1 |t os . set_blocking ( self . _write , False )
1 |t cdef int exponent
-1 |t magic , format version 16 bytes
-1 |t if a . flag ( " json " )
1 |t that no memory holds them all , and what an example needs is a part of the table ' s size . That is done only for lines
-1 |t numbers = map ( str , range ( self . first , self . first + self . run . arguments [ " oaa " ] ) )
-1 |t found = expanded_names (
1 |t keys , values = [ ] , [ ]
-1 |t kind , items = described [ 1 ] , int ( described [ 2 ] or 1 ) * int ( described [ 3 ] or 1 )
1 |t cdef double LN_HIGH = 6 . 9314718041568995
-1 |t for content in _pieces ( kind , decompressor , data )
1 |t ` VWLITE_CLONES ` before a C function the loader takes the copy that fits the processor , without
1 |t digits = < uint 64 _t > floor ( product ) + ( error > 0 )
1 |t " " " w = w + - w - w + _i < - w + _i exp ( - eta_t g_i ) / Z , w - _i < - w - _i exp ( eta_t g_i ) / Z , sum w + + w - = radius
1 |t from libc . math cimport copysign , fabs , floor
1 |t if self . terms = = NULL
-1 |t self . tests = tests
-1 |t " those below a threshold out of the model . " ,
1 |t cdef inline int make_room ( void * * array , size_t * capacity , size_t n , size_t size ) noexcept nogil
-1 |t if why . startswith ( " it is an option of " )
1 |t cdef struct Example
1 |t cdef readonly Rule rule
-1 |t return " " . join ( c if c . isprintable ( ) else c . encode ( " unicode_escape " ) . decode ( ) for c in text )
-1 |t from vwlite . errors import CannotCreateError , NoInputError , UsageError , WriteError
-1 |t def _first_lines ( data bytes , count int ) - > bytes
1 |t if number . value < 0
-1 |t return ( int ( match [ 1 ] ) , int ( match [ 2 ] ) , int ( match [ 3 ] ) ) if match else None
1 |t cdef double l 1 , delta
-1 |t " l 1 norm " norm if norm < np . inf else None ,
-1 |t why = f " unknown { name } { text } " if known else f " { option_name ( name ) } { e . message } "
1 |t min_label , max_label predictions are clipped to this range ; ` learn ` widens it if ` widens ` . ValueError if there
1 |t SLOT = [ * Adagrad . SLOT , ( " sum " , " < f 8 " ) , ( " since " , " < f 8 " ) , ( " area " , " < f 8 " ) ]
1 |t if m . shifts [ middle ] - at > = size
1 |t free ( self . a . importance )
1 |t cdef float bound
1 |t power = self . scratch
1 |t for i in range ( e . size - ( e . ends and self . has_constant ) )
1 |t sum = 0
-1 |t class VwliteError ( Exception )
-1 |t if power = = 2
1 |t self . number = 1
1 |t " " " Make the next piece ; the first one , if the part is not begun . " " "
-1 |t won . append ( wins )
1 |t back the middle of it is plain arithmetic on arrays , and writing one feature back twice does no harm .
1 |t scale = 1 / sqrt ( scale ) if self . adaptive else 1 / scale
-1 |t with np . errstate ( over = " ignore " )
-1 |t example and b_i its initial prediction . The r_j are all ` - - l 2 ` , and the u_j are 0 , unless a file has others
1 |t bucket = & queue . buckets [ i ]
-1 |t self . shape . apply ( example )
-1 |t raise NoInputError ( f " the cache has changed while it was in use ( { e } ) run again " ) from e
-1 |t return self . rest . get ( at , 0 . 0 )
-1 |t learner . report_at = self . interval . at
1 |t cdef size_t i = v . constant_at
1 |t arrays [ 10 ] = a . letter
1 |t add_up ( e . slots , e . x , e . size , self . columns . x )
1 |t return copysign ( positive_part ( fabs ( s . z ) - ( 0 if s . mark = = constant else shift ) ) , s . z ) * s . inverse
1 |t p = q
1 |t def run ( self , Batch batch not None , size_t begin = 0 , end = None )
-1 |t self . stale = [ 0 . 0 ] * pool
-1 |t names = " " . join ( f " - - { name } " for name in MANY if name in a )
-1 |t text = MEANINGS . get ( ( name , a . name ) ) or MEANINGS . get ( name ) or text [ 0 ] . upper ( ) + text [ 1 ]
-1 |t " w_j = sign ( theta_j ) theta_j ^ ( p - 1 ) / theta _p ^ ( p - 2 ) \ n "
1 |t spread ( < const uint 32 _t * > a . value , a . features , & least , & largest )
1 |t new = LARGEST * self . radius / inverse + self . shift
1 |t for i in range ( e . size )
1 |t if zero > = high or ( clip > low and random_below ( & state , 2 ) )
-1 |t " las_hint_explicit_simd learn loss_ 01 _ratio loss_option loss_report loss 0 loss 1 max_actions max_value "
-1 |t rate = s . learning_rate
1 |t cdef Name any_name ( const char * p , uint 32 _t seed , bint strings ) noexcept nogil
-1 |t kept = Arguments ( )
1 |t cdef void gather_due ( self ) noexcept nogil
-1 |t if s . shows_learners
1 |t " " " Make room for the visits of longer examples ; - 1 no memory . " " "
-1 |t from collections . abc import Callable
1 |t power + = 1 # value = 0 . ddd . . . * 10 ^ power
1 |t cdef readonly size_t classes # K
-1 |t LABEL_DOMAIN = {
-1 |t " " " Where the cache of a file lies if it is not said . " " "
-1 |t bad + = 1
1 |t cdef int begin_crossing ( self , const Arrays * a , size_t line ) noexcept nogil
-1 |t confidence - bool keep predict how sure a prediction is , too
1 |t double * x
1 |t cdef double size = fabs ( s . w ) , w = s . w , t = s . last , c , rest , steps , more
1 |t return self . locate_pieces ( model , learns )
-1 |t prompt = total_size ( sources or [ " - " ] ) is not None
1 |t wanted = INFINITY if capped > self . radius else shift
-1 |t loss str = " squared " # " " that of a model of Vowpal Wabbit , which does not know it
-1 |t if hasattr ( rule , " norm_sum " )
-1 |t " l 1 - subgradient " ,
-1 |t for letter , space in example . spaces . items ( ) if not s . dropped ( letter )
1 |t if ( all = = ( char * ) MAP_FAILED ) {
1 |t free ( self . a . kind )
-1 |t ignore - list [ str ] keep leave these namespaces out
-1 |t self . target = target
-1 |t out . extend ( check . add ( chunk ) for chunk in chunks )
1 |t " " " Make room for that many more ; - 1 when memory is out . Doubles , so it costs O ( 1 ) an item . " " "
1 |t self . norm = self . unit * exp ( log ( sum ) / self . p ) if self . unit > 0 else 0
1 |t and Langford , Online Importance Weight Aware Updates , 2011 if the prediction moves along
1 |t The C library computes one number a call , and which bits come out depends on the library and the processor . These are
-1 |t help = " With - - on - error skip write the bad lines to this file . " ) ,
1 |t if d [ 2 * k + i ] ! = 0 and w > - self . radius
1 |t self . box = box
-1 |t make_interactions ( a , s )
1 |t cdef double power
-1 |t def close ( self ) - > None
-1 |t out Vector None = None ,
1 |t static inline uint 64 _t vwlite_digits_of ( uint 64 _t word ) {
-1 |t def get ( self , name str , default Any = None ) - > Any
1 |t cdef size_t line = self . a . lines , n
1 |t return log ( total ) - ( self . scores [ label - 1 ] - largest )
-1 |t return Model ( header , state , len ( columns ) , slots , woven ( columns ) )
1 |t names = [ str ( i ) . encode ( ) for i in range ( 1 , room + 1 ) ]
1 |t if number . end = = end and 1 < = number . value < = ( < Names > s . names ) . room and number . value = = < uint 32 _t > number . value
1 |t want = self . a . lines + lines
-1 |t np . add . at ( v , self . columns , terms )
1 |t s . G , s . V = cut + more * g , cut * cut + more * ( g * g )
-1 |t self . streams . warn ( f " marginal feature namespace has { len ( hashes ) } features . Should be a multiple of 2 " )
-1 |t self . _learn_finals ( e , self . _learn_matches ( e ) )
-1 |t while count < self . subsample
1 |t MOST_CLASSES = 1000 # of which a matrix is kept
-1 |t def conjugate ( self ) - > float
1 |t if expansion = = NO_ROOM or self . take_pieces ( a , line , & e , learns )
-1 |t " w - _i < - w - _i exp ( + eta_t g_i ) / Z , Z such that sum of w + + w - = radius \ n "
-1 |t if writer is None or self . stopped
1 |t if self . a . distinct_hash [ found - 1 ] = = hash
1 |t the average weight . A weight that rises keeps its entry , and gets a better one when Theta comes to it . A weight
1 |t prefetch_line ( < Slot * > self . table . slots + self . due . entries [ j ] . key )
-1 |t self . _taken + = 1
-1 |t project_l 1 ( vector * DOWN , z * DOWN , method = method , out = out )
1 |t cdef inline size_t aligned ( size_t size ) noexcept nogil
1 |t static inline const char * vwlite_foretold ( const char * p ) {
1 |t cdef Stage stage
-1 |t def _stop ( self , words str ) - > None
-1 |t yield from self . _read_ahead ( )
-1 |t NOT_SVRG = (
-1 |t if len ( players ) = = 2 and ( i = = 0 or not tournaments [ i - 1 ] )
-1 |t w * = contraction
-1 |t CLASSES = ( " oaa " , " csoaa " , " multilabel_oaa " , " ect " , " csoaa_ldf " , " wap_ldf " )
-1 |t s . weighted_labeled_examples = tally . weight
1 |t trouble_at ( trouble , code , p , end )
1 |t product = v * scale
-1 |t self . rule . wound = False
-1 |t if self . _temporary is not None
-1 |t return f " { loss } needs - 1 or 1 ; { mapped } ; for more classes - - oaa K "
1 |t / * Gathers the marks in the highest byte . * /
1 |t if vwlite_load ( self . stopping )
1 |t return exp ( p ) - y * p - ( y - y * log ( y ) )
-1 |t " " " What the parser makes of names , by the letter of the namespace . " " "
-1 |t PATH = FileName ( )
1 |t cdef void * grown = realloc ( array [ 0 ] , items * size )
-1 |t return _predictor ( model , settings , path , options )
1 |t return ( self . t - s . account . since ) * s . w
-1 |t click . echo ( e )
1 |t if self . named > 0
-1 |t initial_denominator - float with which marginals begin
-1 |t raise ValueError ( f " { x ! r } is no text " )
1 |t Duchi , Hazan , Singer . Adaptive Subgradient Methods for Online Learning and Stochastic Optimization . JMLR 12 , 2011 ;
1 |t def count_of_sum ( self )
1 |t return trouble_at ( trouble , INITIAL , begins [ 2 ] , ends [ 2 ] )
1 |t self . top - = 1
1 |t bint begun # of a piece see ` sweep `
1 |t uint 64 _t line_end
-1 |t end = begin
1 |t cdef struct Memory
-1 |t if h . bits > 32
-1 |t raise NoInputError ( f " { display_name ( source ) } { e . strerror } " ) from e
1 |t return kth_largest ( self . sizes , n , < size_t > self . goal ( ) + 1 ) if n > self . goal ( ) else 0
-1 |t def to_float ( x float ) - > float
-1 |t raise UsageError ( f " - - probabilities is for classes , and { o . model } has none use - - link logistic " )
-1 |t mark = " h "
-1 |t hand the command one dataclass . What the options mean is decided in ` vwlite / options / resolve . py ` .
-1 |t group = Group ( lines [ 1 ] if shared else lines , shared )
-1 |t Any mix of plain and compressed files ; compression is told by the first bytes , never by the name . A
-1 |t rows = { p . name p . get_help_record ( context ) for p in train . params if isinstance ( p , click . Option ) }
-1 |t shown_names + = " , . . . " if count > MOST_NAMES else " "
-1 |t self . step = 0 . 0
-1 |t elif learner . predicts_apart
1 |t cdef class L 1 Ball ( Limited )
-1 |t self . lost = to_float ( ( lost + weight * self . _judge ( found , e . label ) ) / ( total + weight ) )
-1 |t " " " The layers from the bottom up , as the header lists them . " " "
1 |t prefetch ( self . table , f . keys , f . size )
1 |t cdef inline uint 32 _t hash_strings ( const char * s , size_t n , uint 32 _t seed ) noexcept nogil
-1 |t " " " How many features are no interactions , the hidden ones of - - ignore_linear too . " " "
1 |t s . w * = powf ( ( size / s . N ) * ( size / s . N ) , power_t - 1 )
-1 |t if o . passes > self . pass_number
1 |t cdef uint 64 _t lifted = self . zeros # zeros that the shift lifts
-1 |t if len ( best ) < self . k
-1 |t raise MemoryError ( table_needs ( self . learner . enormous , where ) )
-1 |t from vwlite . core . learn . losses import Hinge , Logistic , Loss , Poisson , Quantile , Squared
1 |t self . l 1 , self . features = l 1 , features
-1 |t " " " The label as Vowpal Wabbit has it , without a sign ; that of an example without one is - 1 . " " "
-1 |t self . live . active = False
1 |t for i in range ( old_capacity )
1 |t p = skip_blanks ( p )
1 |t return b " an importance or an initial prediction is none "
1 |t cdef uint 32 _t key = ( ( < uint 32 _t > CONSTANT & self . expander . mask ) < < self . shift ) + self . model
1 |t " " " Take the least entry from the heap , which is not empty . " " "
-1 |t self . initial = to_float ( a . get ( " initial_numerator " , 0 . 5 ) ) , to_float ( a . get ( " initial_denominator " , 1 . 0 ) )
-1 |t del s . header_lines [ said ]
1 |t self . value , self . slope = o . loss , o . slope
1 |t prefetch_soon ( hash + i + AHEAD )
1 |t else # it has risen since
-1 |t return Named ( ldf , " shared_feature_merger " )
1 |t if s . u > self . shift
-1 |t e . weight * = importance
1 |t while < uint 8 _t > ( p [ 0 ] - c ' 0 ' ) < = 9
1 |t cdef uint 64 _t bits
-1 |t return float ( next ( ( i for i , edge in enumerate ( POISSON ) if x < = edge ) , 20 ) )
1 |t uint 32 _t key
-1 |t if key = = " _text " and isinstance ( value , str )
1 |t from libc . math cimport INFINITY , fabs , llrint
-1 |t # With these the classes of - - oaa are models among others , or share something , or weights are asked for by their keys .
-1 |t def _linear ( self , e Current ) - > int
-1 |t help = " The rate falls as ( t + initial - t ) ^ - power - t ; for gd , each feature ' s own ; for adagrad , only if given . " ) ,
-1 |t self . streams . error ( f " label { label } is not in { { 0 , { self . k - 1 } } } This won ' t work right . " )
-1 |t with contextlib . suppress ( FileNotFoundError )
1 |t if self . shares = = NULL
-1 |t if self . holdout_after
1 |t p = zero
1 |t def __init__ ( self , loss , * , double l 1 = 0 , * * options )
1 |t cdef double top , total , t , theta , x
1 |t " " " - 1 no memory , and all is as it was . " " "
-1 |t def usual ( self ) - > tuple [ float , float , bool ]
1 |t cdef double * low # owned , [ K ] what ` min_label ` is for a learner of two labels
-1 |t if left + len ( line ) < = WIDTH
1 |t sort_by_key ( all , n )
-1 |t " " " Refused for what is not here together , Critical for what is nowhere . " " "
-1 |t " " " What the rule keeps beside the arrays a number each , or one for each class . " " "
1 |t self . waiting [ self . waiting_size ] = s
1 |t " namespace name " , " scale " , " scale too large " , " value " , " value too large " , " value too large by scale " ,
-1 |t def _flags ( a Arguments ) - > bool
1 |t uint 32 _t marks [ MARKS ] # where the delimiters are , from the beginning of the text
-1 |t self . gradient , self . count = { } , 0
1 |t self . places = < uint 32 _t * > calloc ( places , sizeof ( uint 32 _t ) )
1 |t sums [ 0 ] = Sums ( sum , other_sum , units , other_units )
1 |t part . size , part . slots , part . x = n , self . slots , self . expander . part . values
-1 |t j = i + int ( self . random . next ( ) * ( self . k - i ) )
1 |t " " " The next piece ; all but the last have an even number of features . They are valid until the piece after . " " "
1 |t self . norm_sum = self . weight_sum = self . elapsed = initial_t
-1 |t self , kind type [ BaseException ] None , error BaseException None , trace TracebackType None
-1 |t def live_text ( examples int , done int , total int None , seconds float ) - > str
1 |t cdef float TINY = 1 . 084202 e - 19 # . . . and x as this
-1 |t def brief ( text Any ) - > str
1 |t cdef Slot * * waiting # owned ; the features of this example
1 |t self . adaptive , self . normalized , self . invariant = adaptive , normalized , invariant
1 |t batch . a . letter [ batch . a . spans ] = c ' '
1 |t sums [ j ] + = x [ i + j ]
1 |t cdef uint 64 _t state = SEED
1 |t steps = floor ( size / c )
-1 |t say ( f " continuing { self . options . initial } after { self . before . get ( ' examples ' , 0 ) } examples " )
-1 |t self . width = 1 + rank * len ( self . fields )
-1 |t return copysign ( float ( " inf " ) , a ) * copysign ( 1 . 0 , b ) if a else - float ( " nan " )
1 |t cdef size_t line
1 |t from libc . stdint cimport uint 32 _t
-1 |t def _object ( self , example Example , pairs list [ tuple [ str , Any ] ] , name bytes , top bool ) - > None
1 |t end = begin + min ( inner . size - begin , most - self . f . size )
1 |t return Sgd . predict ( self , e )
1 |t cdef size_t depth , i , begin , end
1 |t cdef public uint 64 _t held_features
1 |t cdef uint 32 _t cut_key
-1 |t self . old_g [ ] , self . old_w [ ] = self . g , self . w
-1 |t hash str = " strings "
-1 |t gamma - float how much better than chance a weak learner is
1 |t spare = < double * > malloc ( kept * sizeof ( double ) )
-1 |t from vwlite . core . rules . gd import Gd
-1 |t self . _thread = threading . Thread ( target = self . _wait , name = " signals " , daemon = True )
1 |t if i < n
-1 |t return " - - " + { " constant " " no_constant " } . get ( field , field ) . replace ( " _ " , " - " )
-1 |t return fingerprint ( self . options . data , shaping )
-1 |t if e . names is None and e . batch is not None
-1 |t " gradient descent that sets small weights to zero every K examples " ,
1 |t move_to_the_power ( e , step , < float > self . schedule . power_t )
-1 |t def _parsed ( self ) - > Iterator [ tuple [ Batch , Names None ] ]
-1 |t place = next ( ( place for place in places if os . path . exists ( place ) ) , None )
-1 |t return batch , names
1 |t if not ( rises ( a . tag_begin , a . lines , a . tag_bytes ) and rises ( a . span_begin , a . lines , a . spans )
-1 |t return " radius " if " radius " in ALGORITHMS [ settings . algorithm ] . options else " l 1 "
-1 |t learner . lines = self . run . lines
1 |t cdef double sum = 0 , T
-1 |t rule . load ( model . rule model . more , _slots ( rule , model . keys , model . state ) )
-1 |t " " " The value of an argument . Critical , in Vowpal Wabbit ' s words , if it is none . " " "
-1 |t WRITTEN = (
1 |t return self . box / s . a + self . shift
-1 |t for vote in votes
-1 |t text + = f " @ { short ( sums [ i ] ) } "
-1 |t simple labels are numbers . wants_names names are collected . make how a line becomes an example if it is not
1 |t def faults ( self , block , Batch batch , limit = None )
1 |t if slots = = NULL
-1 |t " J . Duchi , E . Hazan , Y . Singer . Adaptive Subgradient Methods for Online Learning and Stochastic Optimization . "
-1 |t # The shares of its class count among those that were held out , if there are such .
1 |t v . constant = NULL
-1 |t s . streams . info ( text . format ( n , " all " if letter = = 0 else chr ( letter ) ) )
1 |t PRIME = 16777619 # FNV ' s
-1 |t def _vector ( name str , given Any ) - > Vector
-1 |t return above / below if below else nan
1 |t i = when_zero ( m , size , at )
1 |t cdef Name * names # owned ; [ room ] , never moves
-1 |t out . append ( f " { name } = { number ( value ) if isinstance ( value , float int None ) else value } " )
1 |t double sum = 1 / 6227020800 . 0 ;
1 |t Ross , Mineiro , Langford . Normalized Online Learning , UAI 2013 . Duchi , Hazan , Singer . Adaptive
-1 |t return LABEL_DOMAIN [ self . loss ] if self . loss else " any "
-1 |t except ( ValueError , RecursionError ) as e
-1 |t rule . load ( scalars , fields )
1 |t size , m = flat [ " w " ] . size , flat [ " root " ] . size
1 |t cdef size_t heap_size , heap_capacity
-1 |t put ( f " options { h . options } \ n " )
1 |t - where l 1 shrinks the weights , it is multiplied by ( count / goal ) ^ 0 . 7 , at least 1 / 4 and at most 4 . From 0 it begins
-1 |t self . _values . extend ( values )
-1 |t return array ( " f " , ( random . next ( ) - 0 . 5 for _ in range ( slots ) ) )
1 |t given = < const char * > & data [ i * self . record ]
-1 |t from vwlite . input . pipeline import ParseOptions
-1 |t self . _checkpoint_time = math . inf
1 |t that a warm program allocates nothing per line .
1 |t chunk [ 0 ] = Example ( min ( self . gathering . size - begin , < size_t > CHUNK ) , self . gathering . slots , NULL , 0 , 0 , NULL )
1 |t for i in range ( keys . shape [ 0 ] )
-1 |t option = OPTIONS [ name ]
-1 |t self . text . number + = odd . line - begin
1 |t name . end , name . rest = find ( p , ENDS_NAME ) , 0
-1 |t def advance ( self , step float None , factor float ) - > None
-1 |t from vwlite . model . header import COUNTERS
1 |t cdef int shift = 64
1 |t SLOT = [ ( " mark " , " < u 4 " ) , ( " w " , " < f 4 " ) , ( " G " , " < f 4 " ) , ( " N " , " < f 4 " ) ]
-1 |t from dataclasses import dataclass , fields , replace
1 |t free ( self . a . tags )
-1 |t " " " The header as the readable model begins . " " "
1 |t cdef double old = fabs ( s . u )
-1 |t hashes , values = self . stepper . features ( )
1 |t top = self . sweep ( )
1 |t power_of_block [ POWERS ] = 0
-1 |t f " { _shown ( old ) or ' plain weights ' } leave the option out , or train a new model "
-1 |t raise UsageError ( " - - quantile - tau needs - - loss quantile " )
1 |t part . begun = True
-1 |t " n_i < - n_i + g_i ^ 2 \ n "
1 |t cdef double adapted ( self , size_t n , double examples ) noexcept nogil
-1 |t if a . flag ( " preserve_performance_counters " )
1 |t if A . size
1 |t return power_of_block [ depth if depth < POWERS else POWERS ]
-1 |t def weighed ( x Doubles ) - > Floats
-1 |t " " " A monomial that may become a parent . " " "
1 |t cdef int byte , shift
-1 |t v_i / a_i , from where on w_i is 0 , and ( v_i - b ) / a_i , up to where w_i is b .
1 |t self . source , self . first_line = " " , 1
-1 |t folder , name = os . path . split ( path )
1 |t hash [ i ] = ( length [ i ] < = 8 ) & vwlite_are_digits ( digits ) ? number hash [ i ] ;
-1 |t show_default bool str = False ,
-1 |t whole = float ( mantissa ) if mantissa . strip ( b " - . " ) else 0 . 0
-1 |t _check_finite ( vector )
-1 |t self . _put ( start + i + len ( self . fields ) , rate )
1 |t if not ( < size_t > y . shape [ 0 ] = = < size_t > value . shape [ 0 ] = = < size_t > slope . shape [ 0 ]
1 |t return self . now ( < const Slot * > slot ) = = 0
1 |t sum . high = high
-1 |t " VW 9 . 0 . 0 introduced a change to the default model save behavior . Please use ' - - predict_only_model ' when using "
-1 |t raise DataError ( f " { path } not a valid model the rule ' s state is not that of { settings . algorithm } { e } " ) from e
1 |t if text . write_short ( numbers [ k ] ) if self . short else text . write_number ( numbers [ k ] )
-1 |t from collections . abc import Iterable
1 |t stays = fabs ( s . z ) > shift
-1 |t " " " The first direction . " " "
1 |t self . recent_weight + = importance
-1 |t shape . skips = per_space ( a [ " skips " ] , " skips " )
-1 |t value = float ( " - inf " ) if word . startswith ( " - " ) else float ( " inf " )
-1 |t from compression import zstd # type ignore [ import - not - found , unused - ignore ] # Python 3 . 14
-1 |t if name is not None
-1 |t odds = group . odds [ 0 if group . shared is not None else costs . index ( min ( costs ) ) ]
-1 |t ONLY_WITH = {
-1 |t elif np . may_share_memory ( out , vector )
1 |t cdef double ratio = < double > before / now
1 |t if e . pieces ! = NULL and self . maker . stopped
-1 |t if " affix " in a
-1 |t s . example_number , s . weighted_unlabeled_examples , s . t = learner . examples , learner . unlabelled_weight , learner . time
1 |t void step_by " vwlite_adagrad_step " ( size_t n , const float * x , double slope , double eta , double delta , double shift ,
-1 |t type = Number ( 0 , 1 , open_low = True , open_high = True ) , help = " Which quantile - - loss quantile predicts . " ) ,
-1 |t " " " ` vwlite predict ` " " "
-1 |t statistics . t = state [ " t " ]
1 |t So a round takes the larger one of its own shift and that of the round before . As ` shift + by ` is rounded
-1 |t def page ( name str ) - > str
1 |t self . touch ( s )
1 |t if self . visited . repeated # a feature may share the constant ' s slot
1 |t # define vwlite_prefetch_cell ( address ) __builtin_prefetch ( address , 1 , 3 )
1 |t cdef struct Bucket
1 |t before = - ( uintptr_t ) all % VWLITE_HUGE ;
-1 |t shown = np . clip ( np . where ( np . isnan ( raw ) , 0 , raw ) , self . stepper . min_label , self . stepper . max_label )
1 |t grown = realloc ( self . slots , 2 * e . size * sizeof ( char * ) )
1 |t q = base + m [ 0 ]
-1 |t terms * = self . values
-1 |t self . main . use ( self . squared )
-1 |t size = np . abs ( vector )
1 |t cdef Example example ( self , double initial , double importance )
-1 |t return array_of ( slots , CODES [ kind ] ) [ at / / size rule . slot_size ( ) / / size ]
1 |t if entry . rank > to
-1 |t self . w , self . r , self . u , self . memory , self . free = w , r , u , memory , free
1 |t const uint 16 _t * numbers # of the batch ; NULL not numbered
-1 |t self . streams . put ( " Maximum number of passes reached . " )
1 |t cdef readonly double delta
-1 |t _option ( " - - nonzeros " , group = _LEARN , type = Whole ( 1 ) , metavar = " N " ,
-1 |t raise UsageError (
-1 |t @ click . group ( cls = Program , context_settings = { " help_option_names " [ " - h " , " - - help " ] , " max_content_width " 100 } )
1 |t want = max ( want + 1 , 2 * self . span_capacity )
-1 |t file . write ( " " . join ( self . _named ( e ) ) . encode ( " utf - 8 " , " surrogateescape " ) )
-1 |t self . setup . statistics . see_label ( e . label )
-1 |t self . shape = make_shape ( a , s )
1 |t cdef inline double open ( self , const AveragedSlot * s ) noexcept nogil
1 |t ( S - z ) / rho , after dropping the active u that this leaves behind . Every drop is paid for by an earlier
1 |t g = slope * part . x [ i ]
-1 |t return dot ( self . d , self . d , self . r )
-1 |t return _SENTENCES [ code ] . format ( token = token , previous = previous )
1 |t # Theta is at least top - z , and so more than z above Theta of before nothing stays but what was touched .
-1 |t shown_names = " , " . join ( printable ( name ) for name in names . first ( min ( count , MOST_NAMES ) ) )
-1 |t def take ( self , e Current ) - > None
-1 |t w = self . _weight ( base + ids [ right ] * rank + n , 0 . 5 / sqrt ( rank ) , learns )
1 |t from libc . stdint cimport uint 8 _t , uint 16 _t , uint 32 _t , uint 64 _t
1 |t return number + seed
1 |t if s . m ! = 0 and s . mark ! = self . constant
1 |t s . since = self . next_level
-1 |t " " " The slope of the loss at the prediction of the stable weights . " " "
1 |t cdef struct Settings
1 |t if append ( & queue . buckets [ bit_length ( entry . rank ^ queue . last ) ] , entry )
-1 |t rule . more_norms + = ( size / self . _get ( at [ " N " ] ) ) * * 2
-1 |t def convert ( self , value Any , param click . Parameter None , ctx click . Context None ) - > Any
-1 |t words = [ short ( e . label ) ] if e . labelled else [ ]
-1 |t " H_i = delta + sqrt ( sum of g_i ^ 2 , this example ' s too ) , v_i = w_i - eta_t g_i / H_i \ n "
-1 |t def __init__ ( self , base " Layer " ) - > None
-1 |t os . fsencode ( x )
1 |t memset ( self . moments , 0 , sizeof ( self . moments ) )
-1 |t layout = Layout ( rule , s . fields )
-1 |t self . _free list [ bytearray ] = [ ]
1 |t cdef Met * s
-1 |t " " " < g , g > and < g , H g > . " " "
1 |t AHEAD = 16 # how far ahead memory is asked for
1 |t cdef size_t at , i
-1 |t metavar = " BITS " , show_default = " 32 " , help = " How many bits of a feature ' s hash count . " ) ,
-1 |t made . append ( ( one [ i ] [ 0 ] , one [ i ] [ 1 ] * two [ j ] [ 1 ] ) )
-1 |t " " " Learn the last elimination . Its weight is the example ' s from then on , as in Vowpal Wabbit . " " "
1 |t if self . table . resolve ( & key , 1 , & slot )
-1 |t " search_save_every_k_runs search_subsample_time search_task search_total_nb_policies "
1 |t from what a zero allows . The objective falls every time , so no set of signs comes twice .
1 |t snprintf ( digits , 64 , " % llue % lld " , < unsigned long long > m , < long long > power )
1 |t double * initial # [ lines ] added to the prediction
1 |t base = < char * > info . buf + offset
-1 |t early_terminate - ulong stop after so many passes without progress
-1 |t pa_c float None = None
-1 |t " Duchi , Shalev - Shwartz , Singer , Chandra 2008 , sections 3 and 6 " ,
-1 |t learned " array [ int ] " # 1 to be learned
-1 |t class Top ( Layer )
-1 |t foreground - bool changes nothing here
-1 |t if cache . skipped and ( self . options . rejects or self . options . max_errors is not None )
-1 |t learner . examples , learner . unlabelled_weight , learner . time = s . example_number , s . weighted_unlabeled_examples , s . t
1 |t if s . u ! = 0 and s . mark ! = self . constant
-1 |t return h , source
-1 |t if self . _file is None
1 |t " " " w = ( alpha + r ) z / ( L m ( L m + n ) ) / A " " "
-1 |t " " " Tell errors of the system in words . " " "
1 |t cdef size_t i , low = 0 , high = self . level_size , middle
1 |t return memoryview ( b " " )
-1 |t without_gain int = 0
-1 |t a . values [ " link " ] = link # which a model keeps , and not - - probabilities
-1 |t set_streams ( a , streams )
1 |t double * inverse ) noexcept nogil
-1 |t if getattr ( settings , name ) is None and not ( name = = " radius " and settings . nonzeros )
1 |t cdef double v = self . now ( s ) + by
1 |t self . mask = < uint 32 _t > ( ( < uint 64 _t > 1 < < bits ) - 1 )
-1 |t if a . flag ( " bfgs " ) and a . flag ( " conjugate_gradient " )
1 |t cdef int take_pieces ( self , const Arrays * a , size_t line , Example * e , bint learns ) noexcept nogil
-1 |t " " " The name of a file , with a digest for its end if a folder takes nothing longer . " " "
-1 |t namespace , _ , feature = name . encode ( " utf - 8 " , " surrogateescape " ) . rpartition ( b " ^ " )
-1 |t rate = 1 . 0
1 |t " " " Forget the content , keep the memory . " " "
-1 |t described = _ARRAY . fullmatch ( str ( data [ begin end ] , " latin - 1 " ) )
-1 |t for fd , flags in ( ( 0 , os . O_WRONLY ) , ( 1 , os . O_RDONLY ) , ( 2 , os . O_WRONLY ) )
1 |t } \ \
-1 |t " " " The interactions , sorted and without duplicates . " " "
-1 |t def __init__ ( self , what str , why str = " only Vowpal Wabbit has it " ) - > None
-1 |t " " " Experience replay examples are learned later , in a random order replay_b , replay_c , replay_m . " " "
1 |t cdef double g , constant = 0
1 |t " " " The base of rules with a strength . nonzeros at most so many weights ; 0 as many as there are . " " "
-1 |t f , line = self . features , self . line
1 |t uint 32 _t delimiters " vwlite_delimiters " ( const char * p , char other ) noexcept nogil
-1 |t model = e . model
-1 |t COUNTED = " More features in the data than - - features says end the run ( exit code 65 ) . "
-1 |t self . mask = ( s . stride < < s . bits ) - 1
1 |t - theta _p changes in every step , but few coordinates make it with d of them , those below
1 |t # define VWLITE_CLONES __attribute__ ( ( target_clones ( " arch = x 86 - 64 - v 4 " , " arch = x 86 - 64 - v 3 " , " default " ) ) )
-1 |t value = scale = 1 . 0 # of ` name text ` , and of ` name ` with nothing behind it
-1 |t s . say ( line )
-1 |t shown = e . prediction
-1 |t data = memoryview ( archive . read ( f " { name } . npy " ) )
1 |t const uint 8 _t ENDS " vwlite_ends " [ 256 ]
1 |t cdef double norm = 0 , step = 0
-1 |t self . _write ( bytes ( gap ) )
1 |t if p [ 0 ] = = c ' '
-1 |t elif isinstance ( value , list )
-1 |t def _check_algorithm ( settings Settings , typed dict [ str , Any ] ) - > None
-1 |t if self . at + size > = len ( self . line )
1 |t s . w + = < float > step * part . x [ i ] * powf ( max ( s . G , SMALLEST ) , - power_t ) * powf ( s . N * s . N , power_t - 1 )
-1 |t # - - - examples - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
-1 |t self . _remove_lock ( lock )
-1 |t if _NUMBER . match ( raw )
1 |t cdef readonly double slope
-1 |t port_file - str changes nothing here
1 |t IS_BLANK " VWLITE_BLANK "
1 |t self . has_last = True
-1 |t if not self . names
-1 |t if a . get ( " l 1 " , 0 . 0 ) > 0 or a . flag ( " testonly " )
1 |t / SIGNED_POWERS [ negative ] [ n ] )
1 |t cdef Sum R # of 1 / H
1 |t if not project_plain ( given , self . z , False , projected )
-1 |t self . _target = self . _beside . target
1 |t cdef void * data
-1 |t if not self . batch and self . passes ! = self . setup . arguments . get ( " passes " , 1 )
-1 |t " " " The permissions of the old file , or those of any new one . " " "
-1 |t return head + p + power
1 |t paid when a weight is read . The order of operations is that of Vowpal Wabbit ' s gd , so that both learn
1 |t cdef void restart ( self , const int 64 _t * touched , size_t k ) noexcept nogil
-1 |t by_turns bool = False # lines that the engine does not know are read when those before them are learned
-1 |t self . feed ( parsed . batch )
-1 |t " in training ? "
1 |t cdef readonly list rules # one for each class
-1 |t def _safe_exp ( x float ) - > float
1 |t " " " The average of - log of the probability that the label ' s class had ; None without probabilities . " " "
-1 |t " " " A predicting run every example of a stream through a model , which stays as it is . " " "
1 |t All this is computed in single precision and in Vowpal Wabbit ' s order bets are often such simple fractions that the
-1 |t low , high = stepper . min_label , stepper . max_label
-1 |t " l 1 - subgradient " L 1 Subgradient ,
-1 |t learned , and no notes are taken .
-1 |t return count , [ ]
-1 |t out . append ( " 0 \ n " )
-1 |t self . _temporary = None
-1 |t self . begin = self . last = clock ( )
-1 |t " output_feature_regularizer_text " ,
-1 |t self . first = 0 if label = = 0 else 1
-1 |t def _parse ( self , number int , parsing Parsing , task Task , batch Batch ) - > None
1 |t if self . unseen < = by
1 |t return ( sums [ 0 ] + sums [ 1 ] ) + ( sums [ 2 ] + sums [ 3 ] )
-1 |t With more than one thread , another one reads them ahead . NoInputError if the file is not what it was .
1 |t if self . learning
-1 |t " " " Learns if there is something to learn , tells the loss , and puts the prediction through the link . " " "
-1 |t raise Critical ( f " malformed { what } { value } " , " parse_args . cc " , 300 )
-1 |t if value = = 0
1 |t @ norm_sum . setter
-1 |t from vwlite . errors import ClosedPipe , DataError
1 |t self . to_finer , self . from_finer = FINER / self . scale , self . scale / FINER
-1 |t if what in _NOUNS and code ! = what
-1 |t from vwlite . hashing import feature_hash
1 |t if merge ( & self . found , e )
1 |t points = old + stops [ , None ] * ( new - old )
-1 |t from vwlite . vw . random import Random , normal_weights , uniform_weights
1 |t cdef size_t k , found = 0
-1 |t one = [ ] if at is None else [ at ]
1 |t cdef struct Columns
-1 |t def __iter__ ( self ) - > Iterator [ Piece ]
1 |t return self . sum ( ) - self . rho ( ) * self . shift
-1 |t reader . check ( )
-1 |t if not match or int ( match [ 1 ] ) = = 0
1 |t uint 32 _t * hash # [ features ] 32 bits , not masked ; NULL in a view of a numbered batch
1 |t if spare = = NULL
1 |t def average ( self )
1 |t DIVERGED = 3 # the prediction or the loss of the line is not finite
-1 |t now , then = self . constant_places ( e )
-1 |t out . append ( f " { name } { int ( value ) if form = = ' < Q ' else short ( value ) } \ n " )
1 |t def _scalars_of ( self , scalars , size_t k )
-1 |t early = self . end_pass ( )
1 |t one against all y = 1 for the rule of the label ' s class , - 1 for the others ; each has the loss of its own score .
1 |t sum + = fabs ( self . list [ i ] . z ) * self . list [ i ] . inverse
1 |t return h ^ h > > 32 ;
1 |t other . a . span_begin [ begin + i ] - first_span + self . a . spans )
-1 |t def _fill ( view memoryview , fd int , place int ) - > None
1 |t " " " The LF of this line if p is at its LF or CR LF ; else NULL . " " "
-1 |t if text not in self . names
-1 |t pieces = [ ]
-1 |t " " " Another row . " " "
1 |t self . settle ( < Slot * > slot )
-1 |t interactions = [ pattern . encode ( " latin - 1 " ) for pattern in settings . interactions ] ,
-1 |t " " " What is wrong with a line , in words . The parser only says which complaint and where . " " "
1 |t " " " w + = step x r " " "
1 |t static inline double vwlite_log ( double x ) {
1 |t if self . is_zero ( s )
1 |t free ( self . a . number )
-1 |t self . weights = { slot values [ place ] for slot , values in layout . read ( ) if values [ place ] ! = 0 }
1 |t number [ 0 ] = self . count
1 |t return not d . cut and d . mantissa < = EXACT_MANTISSA and - EXACT_POWER < = d . power < = EXACT_POWER
-1 |t self . quick . stop ( )
1 |t return self . factor ( p , y ) * ( p - y ) * ( p - y )
1 |t signs = np . sign ( w )
1 |t " " " AdaGrad with a diagonal matrix every weight has a rate of its own , eta_t / H_i , H = delta + sqrt ( sum of g ^ 2 ) .
1 |t t , area = m . begin + i , m . areas [ i ]
1 |t from cpython . buffer cimport PyBUF_SIMPLE , PyObject_GetBuffer , PyBuffer_FillInfo , PyBuffer_Release , Py_buffer
1 |t self . strays = [ ]
1 |t cdef double shift = self . shift , wanted , rho , capped = 0 , limit , most
1 |t self . visit ( chunk )
-1 |t e . raw_scores . append ( ( label , e . partial ) )
-1 |t and not any ( name in a and a [ name ] for name in NOT_SIDE_BY_SIDE )
-1 |t self . v = [ to_float ( v / norm ) for v in self . v ]
-1 |t check_apart ( outputs , inputs , ( " - - model " , model ) )
-1 |t raise CannotCreateError ( f " { self . name } cannot be written it is read - only " )
1 |t if self . has_last
1 |t self . a . tag_bytes + = len ( tag )
1 |t vwlite_number_names_body ( n , head , length , seed , hash ) ;
-1 |t shown = f " { total / weight . 6 f } "
1 |t cdef void keep_all ( self ) noexcept nogil
1 |t labels = None , Names names = None , bint lenient_labels = False , bint stop_at_fault = True , str loss_name = " this loss " ,
-1 |t NAN = float ( " nan " )
1 |t d [ m ] = w
1 |t from vwlite . core . learn . rule cimport Example , Outcome , Rule , learning_rate , next_piece , sweep
-1 |t raise ValueError ( f " { name } has { array . ndim } dimensions it must be a vector " )
-1 |t rule , name = make_rule ( a , s , loss )
1 |t self . judge ( p , y , & slope )
-1 |t # Options that a model of Vowpal Wabbit may keep and that have a counterpart .
1 |t const char * name [ MOST_FEATURES ]
-1 |t " " " The token as one short line of printable text . " " "
-1 |t for i in range ( 256 )
1 |t free_bytes = available ( )
1 |t if likely ( p [ 0 ] = = c ' ' )
1 |t - Key and state lie in one record , so a feature costs one cache line .
-1 |t return self . base . models * self . width
1 |t cdef double learning_rate ( const Schedule * s , double t ) noexcept nogil
1 |t cdef size_t capacity # a power of two
1 |t cdef double * spare
1 |t if self . reserve ( size )
1 |t at + = sizes [ 7 ]
1 |t key = < size_t > part . slots [ i ]
1 |t if block > self . top
1 |t if not self . plain
1 |t batch . a . features , batch . a . tag_bytes , batch . a . distinct = counts [ 2 ] , counts [ 3 ] , counts [ 4 ]
-1 |t held = self . pass_number > 1 and bool ( self . _holdout_period ( ) )
1 |t cdef bint expects # an update features have left their levels , and may be in no queue
1 |t " " " The number of a name ; 0 there is none . " " "
-1 |t " K . Crammer , A . Kulesza , M . Dredze . Adaptive Regularization of Weight Vectors . NIPS 2009 ; figure 1 , eq . 7 and "
-1 |t " " " See that outputs , by option , overwrite neither each other nor inputs , which are a path and what it is .
1 |t self . a . tag_begin [ 0 ] = self . a . span_begin [ 0 ] = 0
-1 |t quadratic q list [ str ] keep cross two namespaces by their first letters
-1 |t s . header_lines . append ( f " scanned dictionary ' { path } ' from ' { place } ' , hash = { _content_hash ( data ) x } " )
-1 |t for name in ONLINE
-1 |t invert_hash - str write the readable model with the names of features
-1 |t raise DataError ( f " { path } a model of Vowpal Wabbit with options that are not known { brief ( e ) } " ) from e
1 |t return ( < Names > self . settings . names ) . count if self . settings . names ! = NULL else 0
1 |t names a vwlite . core . data . class_names . Names ; labels are classes , and their numbers take the place of labels . Several parsers
1 |t window = delimiters ( p , c ' ' )
-1 |t " " " End the threads ; what they have not delivered is lost . " " "
1 |t ` SLOT ` with its fields as NumPy would spell them , ` SCALARS ` with the names of the state that is not
-1 |t _option ( " - - probabilities " , group = _OUT , is_flag = True , default = False ,
1 |t raise ValueError ( why . decode ( ) )
-1 |t if self . indexing . label ( i ) = = label
1 |t cdef double w
-1 |t names = str ( value ) . split ( " , " )
1 |t for j in range ( g . size )
1 |t if self . slot_of ( entry ) ! = NULL and append ( & self . due , entry )
-1 |t _say_spaces ( s , shape . skips , " Generating { } - skips for { } namespaces . " )
-1 |t pair . features . add ( to_float ( self . lost - self . _judge ( found , e . label ) ) , importance )
1 |t run . hash = a . hash + a . feature_begin [ span ]
-1 |t loss_name = settings . loss ,
-1 |t self . bottom . stepper . set ( keys , values )
-1 |t return [ * lines , more ] if more else lines
1 |t self . waiting_size = kept
-1 |t s . weighted_labels = tally . labels
1 |t cdef public double shift # Theta
-1 |t if len ( names ) > ( settings . oaa or 0 )
-1 |t target , sign , sources = text . partition ( " = " )
1 |t cdef int j
1 |t h , x = o . hash [ depth ] , o . value [ depth ]
1 |t A loss sees a prediction and a label , never a weight . The invariant step is that of Karampatziakis
-1 |t self . predict ( e )
-1 |t typed [ " threshold " ] = None
-1 |t self . _enter ( )
-1 |t return f " { value g } "
-1 |t AFFIX_PRIME , PRIME = 13903957 , 27942141
-1 |t total = total_size ( sources )
1 |t cdef readonly bint probable # whether the scores mean probabilities
-1 |t # The lines of such an example do not move Vowpal Wabbit ' s time .
1 |t static void * vwlite_zeros_of ( size_t bytes ) {
-1 |t super ( ) . __init__ ( ParseOptions ( format = " vw " , skip = True ) , numbers )
1 |t minus = - < int 64 _t > ( sign & ~ i & 1 )
-1 |t if 48 < = c < = 57
-1 |t _EPOCH = ( 1980 , 1 , 1 , 0 , 0 , 0 )
1 |t if self . spell_out ( )
1 |t arrays [ 6 ] = a . distinct_hash
-1 |t def _products ( self , e Current , spaces Spaces , odd int , learns bool ) - > list [ tuple [ int , float , bytes ] ]
-1 |t self . fault = f " compressed with { name } , which is not supported decompress it first "
-1 |t from vwlite . vw . models . convert import from_vw
1 |t cut , before = g , s . h
-1 |t " " " What an example shows before it is predicted the prediction of the one that had its place in the pool . " " "
-1 |t betting = next ( ( name for name in ( " ftrl " , " pistol " , " coin " ) if a . flag ( name ) ) , None )
-1 |t order = order [ top ]
1 |t if kept = = n
-1 |t holdout what stands for the loss in the row of the table the loss on examples that were held out , NaN if it
1 |t cdef readonly size_t classes # how many there are ; 0 labels are numbers
-1 |t weight = s . weighted_labeled_examples
-1 |t points = np . concatenate ( [ zero , clip ] )
-1 |t raise ValueError ( f " weights has { len ( a ) } numbers , v { len ( v ) } " )
-1 |t batch . check_numbers ( domain , classes )
-1 |t @ dataclass ( frozen = True )
1 |t n , limit = batch . a . features , batch . feature_capacity
-1 |t name = " autolink "
1 |t list [ j ] = s
1 |t raw = self . rule . predict_to_learn ( & e ) if learns else self . rule . predict ( & e )
-1 |t return { name CODES [ kind ] for name , kind in rule . SLOT if name ! = " mark " and not name . startswith ( " _ " ) }
-1 |t return r , u
1 |t bint within # . . . if some of its features came before
-1 |t name = " ect "
-1 |t def __init__ ( self , base Layer , afterwards bool , pool int ) - > None
1 |t cdef const char * initial
-1 |t stepper . min_label , stepper . max_label = min ( stepper . min_label , e . label ) , max ( stepper . max_label , e . label )
-1 |t DataError if a source is of neither format .
1 |t S [ m , m ] + = ( self . basis * self . root ) @ self . basis . T
-1 |t from vwlite . vw . messages import Critical , prediction , short
1 |t - S is the sum of two doubles , with twice the digits of one , and so stays the sum of u .
1 |t cdef bint too_many # there are more features than the rule was made for the learner ends
-1 |t L 1 B + " ; sections 4 and 6 , figures 2 and 3 " ,
-1 |t s . header_lines . append ( f " enabling { what } { ' with ' if curved else ' * * without * * ' } curvature calculation " )
-1 |t found = self . buffer . get ( place )
1 |t munmap ( aligned + bytes , VWLITE_HUGE - before ) ;
1 |t rest + = c
1 |t " " " The parser a block of text becomes a batch .
1 |t return self . write ( b " \ n " , 1 )
-1 |t " " " The number that the text begins with , and how many bytes it takes ; 0 bytes there is none . " " "
-1 |t self . strength float None = None # found by - - nonzeros
1 |t part . begun = not part . begun
1 |t cdef Example e = self . example ( 0 , importance )
1 |t that falls below its bound gets a new entry , and the old one is stale .
-1 |t _class_names = _option (
-1 |t def _dictionary ( path str , a Arguments , s Setup , features Features ) - > Any
-1 |t " index order " " feature index { token } comes after { previous } , but indices must rise " ,
-1 |t for line in range ( len ( batch ) )
1 |t cdef Expander expander
-1 |t self . save ( )
-1 |t help = " What to minimise . " ,
-1 |t if data = = " - " or not _is_cache ( self . cache ) or os . path . realpath ( data ) = = os . path . realpath ( self . cache )
-1 |t return os . write ( 2 , data )
-1 |t method Method = " linear " ,
-1 |t elif name = = " pistol "
1 |t # - - - state , for the model file - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
-1 |t for parsed in batches
1 |t cdef size_t i , n = len ( touched ) / / sizeof ( Slot )
-1 |t return int ( count ) + ( self . stepper . expander . constant_key is not None )
1 |t if tag_size and ( self . write ( b " " , 1 ) or self . write ( tag , tag_size ) )
1 |t if value ! = 0
-1 |t " " " How many bytes came ; none at the end , or when ` stop ` says so . " " "
-1 |t cache = f " { path } . cache "
-1 |t signal arrives ( numpy has threads of its own ) and while the core runs without the GIL . A thread reads
-1 |t path = a [ " initial_regressor " ] [ 0 ] if s . regularizer is None else a [ " input_feature_regularizer " ]
1 |t cdef int write_short ( self , double number ) noexcept nogil
-1 |t def _settled ( term bytes ) - > bytes
1 |t def auc ( self )
-1 |t s . stride = 4 if ( adaptive or normalized ) and not tests else 1
1 |t " " " The order of events an example is expanded , predicted , scored , learned ; one after the other .
-1 |t shown = text . decode ( " utf - 8 " , " backslashreplace " )
1 |t cdef bint plain # the initial state is all zero bytes
-1 |t loss = self . _mean ( max ( 0 . 0 , 1 - low * constant ) , max ( 0 . 0 , 1 - high * constant ) , n_low , n_high )
-1 |t if namer is not None
-1 |t if not learned and signal is None
-1 |t def _not_a_number ( code str , line bytes , begin int , end int ) - > str
-1 |t " " " Examples of several lines , of which those with the largest predictions are told top . " " "
1 |t " " " SparseBall ( n , z , start = None ) a vector w of n numbers that stays on the l 1 ball , w _ 1 < = z .
-1 |t self . alpha [ i ] = to_float ( min ( max ( self . alpha [ i ] + eta * z / ( 1 + _safe_exp ( s ) ) , - 2 . 0 ) , 2 . 0 ) )
-1 |t " " " How the slots of a rule are Vowpal Wabbit ' s floats . " " "
-1 |t found = full . get ( )
1 |t seen [ letter ] = < uint 32 _t > line + 1
1 |t murmur ( s , seed ) Austin Appleby ' s MurmurHash 3 _x 86 _ 32 , as mmh 3 . hash ( s , seed , signed = False )
1 |t the lowest of the integer , on every processor . Windows are 32 bytes of text , of which one asks where
-1 |t " arow " ,
-1 |t if not self . packed
-1 |t self . run . learner . bottom . warn_of_update ( rule )
-1 |t raise Critical ( " No header specified while - - csv_no_file_header is specified . " , " parse_example_csv . cc " , 60 )
-1 |t for player in ( self . matches [ left ] , self . matches [ right ] )
1 |t / * e ^ x for x < = 700 . x = n ln 2 + r , r < = ln 2 / 2 , and 14 terms of the series of e ^ r . Adding 1 . 5 2 ^ 52 rounds to
-1 |t place = circuit . matches [ e . target - 1 ] . winner
1 |t self . f . keys [ self . f . size ] = CONSTANT & self . mask
1 |t cdef class Parser
1 |t A gradient is that of the whole example . A feature that occurs twice in it , or collides with another , has the sum of
-1 |t raise DataError ( f " { self . _nothing_learned ( ) } ; { kept } " )
-1 |t def flush ( self ) - > None
-1 |t if n_low + n_high < = 0
-1 |t constant = stepper . key ( CONSTANT_HASH ) if a . flag ( " no_bias_regularization " ) else - 1
1 |t self . size = i
1 |t if limit < wanted
-1 |t data = self . paths [ 0 ]
1 |t munmap ( all , before ) ;
1 |t self . R . low = x
-1 |t self . best_holdout , self . without_gain = loss , 0
-1 |t " " " Check that each FILE - a model , a cache or data - is whole and valid .
1 |t STOPPED = 4 # ` stop ` was called
-1 |t root_every int = 1
1 |t inverse [ i ] = 1 / H ; \ \
1 |t " " " Whether the numbers of features will do . " " "
1 |t cdef int shift
1 |t if not held
-1 |t floats . extend ( ( w , G , N ) )
-1 |t from vwlite . input . pipeline import parsed_batches
-1 |t def _first_bytes ( path str , size int ) - > bytes None
1 |t ARRAYS = { " w " 1 , " sums " 1 , " G " 2 , " basis " 2 , " root " 1 } # and their dimensions
1 |t self . epsilon , self . restart = epsilon , restart
-1 |t " together . For few features . - - root - every N makes the root of the matrix only every N gradients , and when the "
1 |t slot = self . slot_of ( < uint 32 _t > ( < uint 64 _t > key ) )
-1 |t cost = self . number ( parts [ 1 ] )
1 |t self . drop ( list [ j ] )
1 |t d - = d > 0 and self . has_constant
-1 |t self . _at + = len ( self . _held )
-1 |t exit_code = 70
1 |t cdef size_t collect ( self , bint of_weights ) noexcept nogil
-1 |t _STRTOF = re . compile (
1 |t for i in range ( n )
-1 |t from vwlite . input . pipeline import Parsed , ParseOptions , parsed_batches
1 |t step_by ( n , x , slope , eta , delta , shift , v . w , v . z , v . S , v . inverse )
1 |t from libc . stdlib cimport calloc , free , realloc
1 |t if d = = self . d and self . p ! = 0
-1 |t name = " binary "
-1 |t raise ValueError ( f " the range of predictions is from { low } to { high } " )
-1 |t found . positional . append ( word )
-1 |t def _package_of_links ( ) - > Path
-1 |t " matrix factorization " " rank new_mf " ,
-1 |t the least of several . There the largest of all does not count , as if it were the end of the list .
1 |t part = sweep ( e )
-1 |t def write_model ( file " AtomicFile Draft " , model Model ) - > None
1 |t were more since , its weight is rounded before it is read .
1 |t vanish while memory follows the features that were seen .
-1 |t them there . System calls that a signal interrupts are taken up again by Python .
-1 |t from typing import Any , TypeGuard
-1 |t return constant , loss
-1 |t self . stream = stream or sys . stderr
-1 |t from vwlite . vw . layers . base import Current , Linear
-1 |t " pa - i " Page (
-1 |t if o . holdout_off and o . early_terminate is not None
1 |t self . probabilities , self . short = probabilities , short
-1 |t update str None = None
-1 |t if found is None
1 |t sum = shrinking ( & self . memory , & s . account , fabs ( s . slot . z ) , 0 , self . shift , self . t , self . area )
-1 |t interactions = tuple ( letters ( [ p ] ) . decode ( " latin - 1 " ) for p in patterns ) , keep = text ( " keep " ) , ignore = text ( " ignore " ) ,
-1 |t " truncated - gradient " Page (
-1 |t shape . limits = per_space ( a [ " feature_limit " ] , " feature_limit " )
1 |t if self . reserve ( LONGEST_NUMBER + tag_size + 2 )
-1 |t s . streams . warn ( " - - probabilities should be used with - - csoaa_ldf = mc ( or - - oaa , - - multilabel_oaa ) " )
1 |t raise ValueError ( f " z is { z } it must lie between 1 e - 290 and 1 e 290 " )
1 |t self . gathered = 0
-1 |t beta = 0 . 0
1 |t def __cinit__ ( self , list rules not None , * , int shift , bint probable = False , bint raw = False )
-1 |t from vwlite . input . reader import check_sources
-1 |t " pa - i " PaI ,
1 |t for span in range ( batch . a . span_begin [ line ] , batch . a . span_begin [ line + 1 ] )
1 |t if top - self . low > = 2 * WINDOW
1 |t cdef double sum = self . sum_of_powers ( ) if self . unit > 0 else 0
-1 |t " it had features of any scale and frequency can stand side by side . Steps are those of infinitely many tiny "
1 |t queue . last = last
1 |t if self . columns = = NULL
-1 |t WITHOUT_LINES = (
-1 |t A line may say ` shared ` for its label it comes first , and its features belong to all lines that follow .
1 |t record of every slot ( table . pyx ) it learns as it would alone . What it is told about an example is what differs
-1 |t if isinstance ( value , dict )
1 |t if self . reserve ( 1 , 1 , 0 , len ( tag ) )
1 |t def features ( self , Batch batch not None , size_t line )
1 |t size = fabs ( self . weight ( slot ) ) if of_weights else self . size ( slot )
-1 |t with open ( path , encoding = " utf - 8 " , errors = " surrogateescape " ) as f
1 |t cdef Table table
-1 |t " - - link " , group = _OUT , type = click . Choice ( list ( LINKS ) ) , show_default = default ,
-1 |t if self . wap
-1 |t e . label = - 1 . 0 if left else 1 . 0
1 |t cdef int combine ( self , const uint 8 _t * letters , size_t order , Odometer * o , size_t most ) noexcept nogil
-1 |t return self . _slot ( at / / 4 ) [ " wGN " . index ( self . fields [ at % 4 ] ) ]
-1 |t " passes " o . passes ,
-1 |t e . label = min ( max ( h - gradient , HIDDEN [ 0 ] ) , HIDDEN [ 1 ] )
-1 |t STANDARD = ( " stdout " , " / dev / stdout " ) # they may have several
1 |t t = max ( t , ( s + total - z ) / ( rho + n ) )
-1 |t " " " Send a batch through the learner , and what it wrote to its files . " " "
-1 |t rule . pass_decay = rule . pass_decay * a . get ( " decay_learning_rate " , 1 . 0 )
1 |t cdef bint two_sided # TWO_SIDED
1 |t cdef size_t i , m = 0
1 |t s . z = copysign ( new , z )
1 |t # - - - for tests - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
-1 |t tally = learner . progressive
1 |t if rho > 0
-1 |t def command ( arguments tuple [ str , . . . ] ) - > int
1 |t cdef int write_number ( self , double number ) noexcept nogil
1 |t self . strays . sort ( key = key_of )
-1 |t check_apart ( { " - - output " output } , [ ( model , " the model that is read " ) ] )
-1 |t if size < len ( MAGIC ) + TRAILER . size
-1 |t if self . setup . multiline
1 |t uint 64 _t others = 0 ;
-1 |t def learn_with ( self , e Current , i int ) - > None
-1 |t def put ( text str ) - > None
-1 |t from vwlite . vw . arguments import OPTIONS , Arguments , parse , split , usage
-1 |t " " " The linear model of ` - - bfgs ` or ` - - conjugate_gradient ` . " " "
-1 |t if method not in ( " linear " , " sort " )
-1 |t self . digest = hashlib . blake 2 b ( digest_size = 32 )
-1 |t lines [ " bad lines skipped " ] = self . bad . count
1 |t if not self . merging or e . pieces ! = NULL
1 |t self . weight + = importance
1 |t if self . reserve ( end - begin + 1 )
1 |t cdef size_t i , n = self . collect ( True ) , above = 0 , equal = 0
-1 |t labels , weight = e . target or [ ] , e . weight
-1 |t if place is None
-1 |t except ( OSError , UnicodeDecodeError )
1 |t cdef void recount ( self ) noexcept nogil
-1 |t return found , [ ]
1 |t free ( d . slots )
1 |t cdef inline double shrinking ( const Memory * m , const Account * a , double size , double at , double shift , double t ,
-1 |t return default if default = = " required " else f " default { default } "
-1 |t " " " One field of all slots , as a view of every so many numbers from its place in the first , in steps of a slot . " " "
1 |t def prepared ( self , slots )
1 |t float * value # [ features ] finite , never zero
-1 |t from vwlite . core . rules . rounding import Rounding
-1 |t would turn the prediction ; count examples so far . " " "
1 |t " " " ` lines ` , each on its own the way for every line . " " "
-1 |t if o . feature_weights is not None
-1 |t make = None
1 |t " " " initial + < w , x > , w the weights of the model for an example that is not learned . Changes no weight .
-1 |t def __init__ ( self , base Layer , name str ) - > None
1 |t size [ i ] = TINY if value * value < TINY_SQUARE else value
-1 |t class Lrq ( Layer )
-1 |t " current_pass " t . current_pass , " l 1 _state " getattr ( rule , " gravity " , 0 . 0 ) + s . owed ,
1 |t " " " From a line of a batch to the features of an example . See expand . pyx . " " "
1 |t return ( < const Slot * > slot ) . place = = 0
1 |t cdef double small # SMALL , as a number
1 |t if slow < 2
-1 |t spaces = _spaces ( e , stepper . shift )
-1 |t " " " Run ` vwlite vw ` ; the exit code . " " "
1 |t self . noted = ( < Rule > self . each [ k ] ) . noted
1 |t cdef double small = self . small - scale if few and fabs ( shift ) < self . small else - INFINITY
1 |t if self . constant_early
-1 |t self . separator = a . get ( " csv_separator " , " , " ) . replace ( " \ \ t " , " \ t " )
-1 |t from vwlite . core . text . parser import name_hash
1 |t average ( & self . visited , NULL , chunk . size , slope , self . delta )
1 |t if self . names = = NULL or self . places = = NULL
1 |t s . bound = bound_of ( new , shift )
-1 |t return Parsed ( batch , odd )
-1 |t return " " . join ( f " { i } { p g } " for i , p in enumerate ( scores ) ) + " \ n " + tagged ( " " , e )
1 |t cdef readonly double loss # sum of importance * loss
1 |t " " " The example at hand . " " "
-1 |t spelling set [ int ] = field ( default_factory = set )
1 |t cdef double low , high
1 |t if isnan ( p )
-1 |t def error ( self , text str ) - > None
1 |t letter , end = self . a . letter [ self . span ] , self . a . feature_begin [ self . span + 1 ]
-1 |t self . queries = 0
1 |t cdef int add ( self , double p , double label , double importance , double loss , double surprise ) noexcept nogil
1 |t " " " w , as a new array . " " "
-1 |t if type ( x ) is not int or not 0 < = x < 1 < < 64
-1 |t " " " End the run after the example that it is at . Called from the thread of the signals . " " "
-1 |t " " " Predict and learn one example , count it , and tell of it . " " "
-1 |t with memoryview ( data ) as view
1 |t " " " The clipped prediction of a model . " " "
1 |t if yp > 15 # the approximation would lose all digits ; this is exact to exp ( - yp )
-1 |t What is written after that goes nowhere it would only fail again , at the latest when Python ends .
-1 |t only = tally . weight > 0 and tally . min_label = = tally . max_label
1 |t if make_room ( < void * * > & self . levels , & self . level_capacity , n + 1 , sizeof ( Level ) )
-1 |t raise DataError ( f " { path } saved with - - save - weights - only it predicts , but cannot be continued " )
-1 |t help = " End after so many passes in a row without a better holdout loss . " ) ,
-1 |t tag = b " " . join ( example . words ) + b " \ 0 " + tag
1 |t h + = square * self . feature_rate ( & s )
-1 |t self . save_binary ( f " { a [ ' final_regressor ' ] } . { statistics . current_pass } " )
-1 |t from vwlite . options . resolve import option_name
1 |t def keys_of ( self , uint 32 _t model = 0 )
-1 |t return ShortageError . exit_code
1 |t loss = log ( total ) - ( self . scores [ y ] - largest )
1 |t self . norm_sum + = o . importance * norms
1 |t while v * scale < 1 e 5 # the first digit that is not 0 lies behind so many
-1 |t " " " Keys and values of the features of a line that was taken ; for an audit as Vowpal Wabbit orders them . " " "
1 |t cdef double curvature ( self , double p , double y ) noexcept nogil
-1 |t space . names . append ( called )
-1 |t return float ( e . target [ 0 ] [ 1 ] )
1 |t i + = LINE
1 |t size_t n , const uint 64 _t * head , const uint 32 _t * length , const uint 32 _t * seed , uint 32 _t * hash ) noexcept nogil
1 |t self . S . high = x
-1 |t A model file is what ` numpy . load ( file , allow_pickle = False ) ` reads an uncompressed zip of arrays .
1 |t slope [ 0 ] = - y * e / ( 1 + e )
-1 |t " H . B . McMahan et al . Ad Click Prediction a View from the Trenches . KDD 2013 ; algorithm 1 " ,
1 |t if make_room ( < void * * > & self . heap , & self . heap_capacity , self . heap_size + 1 , sizeof ( uint 64 _t ) )
-1 |t raise Refused ( f " - - { name } without - - { ' or - - ' . join ( others ) } " )
-1 |t " " " Write ` index TAB weight ` lines to standard output , the class between them if there are some ; ties by index . " " "
-1 |t e . features = len ( found )
-1 |t k = self . records
1 |t " " " AdaGrad with the full matrix S = delta I + G ^ ( 1 / 2 ) , G = sum of g g ^ T , takes the place of the rates .
-1 |t ( " radius " , " simplex " ) " The sum of the weights . " ,
-1 |t from vwlite . core . rules . frozen import Fixed
-1 |t def update ( self , e Current , p float ) - > None
1 |t memcpy ( & out , & found , 8 )
1 |t bits + = 1
1 |t " " " Learn from an example whose importance is positive . " " "
-1 |t " " " Add an array in NumPy ' s format , version 1 . 0 . " " "
1 |t " " " Many features at a time from their text to hashes and values .
1 |t if g . slots = = NULL
-1 |t hidden = self . _hidden ( e , first )
-1 |t if not warns
-1 |t def _cell ( x float str ) - > str
-1 |t Not an OSError , as click would make exit code 1 of it .
1 |t size = tag_end - tag
1 |t slots [ i ] . sum + = ( self . t - slots [ i ] . since ) * slots [ i ] . w
-1 |t streams . info ( f " parsed { len ( found ) } class weights " )
-1 |t for option , path in outputs . items ( )
1 |t part . ends = self . expander . stage = = ENDED
-1 |t block . release ( )
1 |t self . enter ( s . m , s . block )
1 |t self . q = q
1 |t if eta * h < 1 e - 100
1 |t c . u = 0 # an index that comes again finds nothing
-1 |t h = Header ( version = version )
1 |t self . lost = False
-1 |t exit_code = 75
-1 |t " " " Options as one decorator , in this order in the help . " " "
1 |t count + = found ;
-1 |t s + = z
1 |t cdef double step
-1 |t from vwlite . vw . messages import HEADER , VERSION , Critical , Refused , Streams , short
1 |t sum = sum * r + 1 / 120 . 0 ;
1 |t from vwlite . core . data . expand cimport CONSTANT , ENORMOUS , NO_ROOM , WHOLE , Expander , Expansion , Features
-1 |t return _is_number ( value )
1 |t self . shares = < double * > calloc ( self . classifier . classes , sizeof ( double ) )
1 |t self . live ( places )
1 |t shift = self . shift + by
-1 |t info = os . fstat ( standard ) if path = = " - " else os . stat ( path )
1 |t result . value = < float > ( < double > ( first * WHOLE_POWERS [ n ] + < int 64 _t > decimal ( word ) )
1 |t free ( self . a . span_begin )
1 |t heavy + = self . heavy [ i ] > = self . lightest
1 |t The list holds every u from ` least ` on . As Theta grows , everything comes down by the same , and nothing that is not
-1 |t winner = 0
1 |t self . multiplier = self . average_scale ( )
1 |t self . wait ( < Slot * > s )
-1 |t def called ( self , label Any ) - > str
1 |t # Each of these reads the line at p , adds it to the batch and returns where the next one begins ; or
-1 |t " " " ` vwlite export ` " " "
1 |t for i in range ( chunk . size )
1 |t size = fabsf ( part . x [ i ] )
-1 |t if not features
1 |t label , importance = a . label [ line ] , a . importance [ line ]
1 |t The importance h multiplies both what the objective says about the example , its loss and its variance . The equations
-1 |t return tuple ( value ) if type ( value ) is list else value
-1 |t click . echo ( table ( ) if name is None else page ( name ) )
1 |t if found = = WHOLE
1 |t self . at = self . odometer . depth = self . odometer . at [ 0 ] = self . odometer . within = 0
-1 |t elif value is not None
-1 |t from vwlite . core . base . checksum import checksum
-1 |t raise Critical ( f " - - { name } { a [ name ] } a number from { least } to { most } is needed " , " options . cc " , 30 )
1 |t sort_by_key ( list , dropped )
-1 |t " " " Refuse outputs that would overwrite each other or what is read ; Vowpal Wabbit destroys them . " " "
1 |t uint 32 _t * marks , size_t room , const char * * reached ) {
-1 |t examples = header [ " counters " ] . get ( " examples " , 0 )
1 |t return read_values ( n , & head [ 0 ] , & more [ 0 ] , & length [ 0 ] , & value [ 0 ] ) ! = 0
-1 |t self . resolved = resolved
-1 |t " identity " LOSSES ,
-1 |t # Of those that stand in the head of a model before 7 . 10 . 3 only these count Vowpal Wabbit 9 reads pairs and
1 |t self . active + = self . waiting
-1 |t comes back where there is something to say a row , a warning . What is unusual ( an odd label , a prediction that is not
-1 |t found str None = detect ( block . data )
-1 |t return self . _at
1 |t if self . sums [ ( self . top - i ) & ( WINDOW - 1 ) ] ! = 0
-1 |t typed [ " feature_weights " ] = True
-1 |t 0 < k < = MOST_CLASSES and ( k - 1 ) . bit_length ( ) < = s . bits and isinstance ( rule , Gd Ftrl )
1 |t if unlikely ( window = = 0 )
1 |t apart what is written and shown of an example that is learned is predicted on its own before , as if it were not .
1 |t uint 32 _t falls = 0 ;
1 |t cdef double variance = 0 , beta , step , rest , sx
1 |t # Of an example ' s features the values themselves , or the sums when some stand twice .
-1 |t l 2 float None = None
-1 |t " " " The first direction . What is known of the second derivatives of the loss serves for it alone . " " "
1 |t cdef Schedule shrinkage # of the c that no slot has paid yet ; its decay is always 1
-1 |t marks = shifted ( keys , 1 )
-1 |t say ( " interrupted " if signal else " finished run " )
1 |t cdef double sparse_l 2
-1 |t The features of a marked namespace come in pairs what is meant , and an id . Each pair becomes one feature , whose value
-1 |t if ahead = = 0
1 |t if crossed ! = WHOLE
1 |t return self . _view ( self . a . letter , self . a . spans , 1 , " B " )
-1 |t self . fail ( f " { value ! r } is no algorithm { hint } " , param , ctx )
1 |t const char * begin
-1 |t " " " All about one algorithm . " " "
1 |t cdef const int * stopping # the flag of who asks ; borrowed , or NULL
1 |t " " " Keep the first ` count ` names the others came from lines that do not count . " " "
1 |t found . append ( BadLine ( fault . line , begin + 1 , message , fault . line_begin , fault . line_end ) )
-1 |t # Models of gd may go on from the time of Vowpal Wabbit , which is none of examples .
-1 |t if letter = = 0
-1 |t deviation = sqrt ( sum ( w * w for w in weights ) / slots )
-1 |t if not stat . S_ISREG ( os . lstat ( path ) . st_mode )
-1 |t j = 0
1 |t " " " Functions that the compiler makes several times , for processors of several ages .
-1 |t undone bool = False # its interactions , by those of the command line
-1 |t from vwlite . options . resolve import resolve
-1 |t if self . _fd is not None
1 |t from libc . string cimport memcpy
-1 |t def is_plain ( run Any ) - > bool
1 |t cdef readonly Names names # of classes , or None
1 |t self . constant_early = constant_early
1 |t self . share = exp ( log ( self . p * NEGLIGIBLE / max ( d , < uint 64 _t > 1 ) ) / self . p )
-1 |t if key . startswith ( " _ " )
1 |t return not self . usual_low < = label < = self . usual_high
-1 |t facts = describe ( path , model )
1 |t The queue does not know whether an entry still counts its user does .
-1 |t def _count ( self , run Any , group Group , tests bool ) - > None
1 |t if s . w = = 0 or missed = = 0 or s . mark = = self . constant
1 |t " " " theta + = by . What leaves the sums and what enters them are pairs in ` scratch ` , below 0 what is in neither . " " "
-1 |t tests = False
1 |t if not self . learning
1 |t if e . size > self . columns . capacity and self . grow ( 2 * e . size )
-1 |t out . append ( f " { name } = { value . 6 g } " )
-1 |t " " " What the layers above said of the rows in a pass . " " "
-1 |t contraction = a . get ( " l 2 _state " , state . get ( " l 2 _state " , 1 . 0 ) )
1 |t cdef int 64 _t power = d . power
-1 |t if magic [ - 2 ] ! = MAGIC [ - 2 ]
-1 |t self . check _Checksum None = None
1 |t if self . room_to_visit ( chunk . size )
1 |t cdef size_t i , n = self . live ( NULL )
1 |t void prefetch " vwlite_prefetch_cell " ( const void * address ) noexcept nogil
-1 |t s . initial_t = statistics . t
1 |t " " " The rule that learns for a model . " " "
-1 |t from contextlib import ExitStack
1 |t def records_of ( const uint 32 _t [ 1 ] keys , const float [ 1 ] floats , Py_ssize_t width , bint wide )
-1 |t out [ ] = np . copysign ( _sort_simplex ( size , z ) , vector )
1 |t self . a . distinct = distinct
1 |t x = negative ? - x x ;
1 |t " " " Do every missed rounding , and count from 0 again . " " "
1 |t " " " Numbers as text , without the locale and without allocating . " " "
1 |t cdef size_t want = self . f . size + n
-1 |t if group and not self . stopped # else its end may be missing
1 |t if not self . weighted
1 |t bint all_below " vwlite_all_below " ( const uint 16 _t * number , size_t n , size_t limit ) noexcept nogil
-1 |t space . hashes = [ h & ( ( 1 < < bits ) - 1 ) for h in space . hashes ]
1 |t key = ( < const Head * > given ) . mark - 1
-1 |t return exp ( x ) if x < 709 else float ( " inf " )
-1 |t self . _beside . tidy ( )
1 |t if ( size > = 32 ) {
-1 |t rows . sort ( key = lambda row - row [ 0 ] )
-1 |t run . raw . write ( _raw_text ( e , score ) )
1 |t whole = llrint ( a / LN_HIGH )
1 |t if self . contraction < FOLD_CONTRACTION or self . gravity > FOLD_GRAVITY
1 |t " " " Replace what was added . " " "
1 |t self . f . values [ self . f . size ] = 1
1 |t elif n < MOST_DIGITS
-1 |t def convert ( self , value Any , param click . Parameter None , ctx click . Context None ) - > str
1 |t cdef double slope = 0 # sum a ^ 2
1 |t R = sum of 1 / H_i over the active set { z > Theta } ; projecting means raising Theta to ( S - radius ) / R , after dropping
-1 |t with contextlib . suppress ( OSError )
-1 |t self . _batch = batch if self . names and not self . run . source . cached_now else None
1 |t " " " Give features their state from before the projection . repeated those that stand more than once do so in the
1 |t size_t last # the last place where the feature stands
-1 |t order = np . argsort ( points ) [ - 1 ]
-1 |t with ExitStack ( ) as stack
1 |t self . largest = max ( self . largest , R [ 0 ] )
1 |t with what takes the weights that are too many to zero until the next look ; and to 0 it falls where it means nothing .
-1 |t if any ( values )
1 |t if not isfinite ( v [ i ] )
-1 |t sum_loss float = 0 . 0
-1 |t return self . k
1 |t return rule . predict_to_learn ( e ) if learns else rule . predict ( e )
1 |t return vwlite_find_marks_anywhere ( base , begin , end , marks , room , reached ) ;
-1 |t self . setup . raw . write ( tagged ( text , e ) )
-1 |t def _parsed ( words list [ bytes ] ) - > tuple [ bytes , float ]
1 |t one of the two , and in which of them is a coin toss so it is chosen without a branch . ( Behind the last slot
1 |t if fabs ( steps [ i ] ) < SMALL_STEP
-1 |t piece = self . data [ self . at self . at + size ]
-1 |t write ( loaded , None if everything else top or 20 , everything )
1 |t All d weights begin as z / d . A slot keeps an unnormalised weight v , 1 at the beginning , and w = z v / V , where V is
-1 |t self . _every = examples
1 |t give_back ( g )
-1 |t from vwlite . vw . layers . ect import Circuit , Ect , circuit_width
-1 |t if not learner . looked_up
-1 |t super ( ) . __init__ ( [ * decls , * vw ] , * * attributes )
1 |t cdef double invariant_step ( self , double p , double y , double slope , double eta , double h ) noexcept nogil
-1 |t parts = [ ]
-1 |t def _close ( fd int ) - > None
-1 |t TG + " ; section 3 . 2 , eq . 5 " ,
-1 |t def main ( arguments list [ str ] ) - > int
-1 |t rate = self . rate * stepper . rule . pass_decay
-1 |t self . side . loss = self . squared
-1 |t self . _stop ( NO_CURVATURE )
-1 |t if not self . limit or self . count < = self . limit
1 |t from libc . math cimport INFINITY , exp , expm 1 , fabs , fmax , fmin , log , log 1 p
-1 |t def make_classes ( a Arguments , s Setup , loss Loss , first Rule ) - > Interleaved
-1 |t learner = scalar . Lrq ( learner , _lrq ( a ) , s , a . flag ( " lrqdropout " ) )
-1 |t " " " In turns one pass that sums the gradients at the weights v as they are then , and ` stage ` passes of steps
-1 |t " " " The options what was typed , and what it means . " " "
-1 |t if at % 4 > = len ( self . fields )
1 |t raise ValueError ( f " no such domain of labels { label_domain } " )
-1 |t " sd oec . weighted_labeled_examples " t . old_weighted_labeled_examples ,
1 |t self . settings . unnamed = murmur ( b " " , 0 , hash_seed )
-1 |t def _check_classes ( settings Settings ) - > None
-1 |t return " - - no - constant "
-1 |t at = self . learner . run ( batch , at )
1 |t cdef struct Slot # begins like that of Adaptive
-1 |t old_weighted_labeled_examples float = 0 . 0
1 |t bits = rank ^ ( ( ( rank > > 31 ) - 1 ) ( < uint 32 _t > 1 < < 31 ) )
1 |t if p = = NULL
-1 |t weight float = 1 . 0
-1 |t self . streams . say ( text )
-1 |t self . best_is_kept = True
-1 |t " " " An empty piece , if reading on would have to wait now . " " "
-1 |t self . _write ( a [ name ] , self . text ( names ) . encode ( " utf - 8 " , " surrogateescape " ) )
1 |t self . classes = n
1 |t cdef int visit ( self , const Example * e ) noexcept nogil
1 |t most a few units in the last place ; for a float 32 that settles it unless the double is next to the
-1 |t _NUMBER = re . compile ( rb " * - ? \ d * ( ? \ . \ d * ) ? ( ? [ eE ] - ? \ d * ) ? " )
-1 |t label , weight , initial = self . simple_reader . read ( example . words )
-1 |t for span in range ( batch . span_begin [ line ] , batch . span_begin [ line + 1 ] )
1 |t " " " AROW , diagonal a normal distribution of each weight ; w moves far where it is wide , and what w learns from narrows it .
-1 |t if key not in self . found and ( name or e . made_names is not None )
1 |t cdef void complete ( self , char * slot ) noexcept nogil
1 |t " read otherwise by Vowpal Wabbit " ,
-1 |t " " " The options of ` vwlite train ` , as typed . None or ( ) not typed ; a default or the model decides . " " "
-1 |t * * model . header ( ) ,
-1 |t if words and ( not head . endswith ( b " " ) or words [ - 1 ] . startswith ( b " ' " ) )
1 |t i = up
-1 |t from vwlite . core . vw . freegrad import FreeGrad
-1 |t if self . holdout
1 |t def slot_size ( cls )
-1 |t " sgd " Page (
1 |t cdef double surprise ( self , size_t label , size_t named ) noexcept nogil
1 |t cdef double C
1 |t cdef Decimal d = read_decimal ( p )
1 |t cdef Example part
1 |t for i in range ( begin , end )
-1 |t " l 1 - ball " AveragedL 1 Ball ,
-1 |t " " " Forget what a loaded model has counted ; not its time . " " "
-1 |t from vwlite . core . base . arrays import shifted
-1 |t " size " info . st_size ,
-1 |t checkpoint_every tuple [ int None , int None ] None = None
1 |t indices , values = np . asarray ( indices ) , np . ascontiguousarray ( values , dtype = np . float 64 )
1 |t from libc . math cimport fabs , llrint
1 |t if self . age = = 0 # v is in the range of G , but for its last digits
1 |t self . asked = 0
1 |t theta ~ = theta - eta_t g_t , theta_j = soft ( theta ~ _j , eta_t l 1 ) ,
-1 |t name = " interval "
1 |t return self . surprise / self . weight if self . probable and self . weight else None
-1 |t if stepper . expander . constant_key is None
-1 |t found = e . prediction
-1 |t alpha , beta = { " ftrl " ( 0 . 5 , 1 . 0 ) , " pistol " ( 1 . 0 , 0 . 5 ) , " coin " ( 4 . 0 , 1 . 0 ) } [ name ]
-1 |t mask = ( 1 < < bits ) - 1
-1 |t Named labels that count from 0 are shown like numbers .
-1 |t " " " Predict and learn an example . " " "
1 |t cdef size_t m = self . root . size
1 |t SUMS_BY_MODEL = False # whether each of several models in one table has its own norm_sum and weight_sum
1 |t self . capacity = 2 * e . size
1 |t if not are_digits ( word )
-1 |t if loss < self . best_holdout
-1 |t step = slope * x + self . gradient . get ( key , 0 . 0 ) / max ( self . count , 1 )
1 |t bint merging = True , * * schedule )
-1 |t if self . afterwards
-1 |t super ( ) . predict ( e )
-1 |t Scores of classes are clipped to the range of labels so far , which may still be different ones in one example .
-1 |t def _make_parameter_free ( a Arguments , s Setup , loss Loss , name str ) - > tuple [ Rule , str ]
-1 |t " initial_t " a . get ( " initial_t " , s . first_t ) , " norm normalizer " getattr ( rule , " norm_sum " , 0 . 0 ) , " t " t . t ,
-1 |t raise ValueError ( f " no batch can be at { place } " )
1 |t cdef void round_all ( self ) noexcept nogil
-1 |t @ click . command ( " train " , cls = Command )
-1 |t in_order bool = False ,
-1 |t for i in range ( stepper . size )
-1 |t if self . _rejects is not None and b . text # a stream that ends early is no line
-1 |t " Two vectors of positive weights , one that counts for and one that counts against weights of any sign , their "
1 |t if ( < Head * > slot ) . mark ! = self . constant and fabs ( self . weight ( slot ) ) = = self . cut
-1 |t for i , players in enumerate ( tournaments )
1 |t free ( self . factors )
-1 |t put ( f " Id { h . id } \ n " )
-1 |t if self . eof
1 |t raise ValueError ( f " { name ! r } names two classes " )
1 |t from libc . string cimport memchr , memcmp , memcpy , memmove , memset
1 |t number = read_float ( begin , begin + c . value_length [ i ] )
-1 |t ftrl_beta float = 1 . 0
-1 |t self . _ask ( e , False )
1 |t cdef Level NO_LEVEL = Level ( < uint 64 _t > - 1 , - INFINITY , 0 )
-1 |t writer = self . _cache_writer ( )
-1 |t self . _note_excess ( len ( batch ) , example )
1 |t cdef inline double now_weighted ( self , const WeightedSlot * s ) noexcept nogil
1 |t that the locale has no say ; digits behind the 800 th can only matter by not being all zeros .
-1 |t if " final_regressor " in a and a . flag ( " save_per_pass " )
-1 |t ngram - list [ str ] runs of features N , or aN for namespace a
-1 |t s . fields = LAYOUTS [ name ]
1 |t s . N = size [ i ]
1 |t self . a . tag_begin [ 0 ] = self . a . span_begin [ 0 ] = self . a . feature_begin [ 0 ] = 0
-1 |t LINKS dict [ str , Callable [ [ float ] , float ] ] = {
1 |t self . rules [ k ] . set_scalars ( each [ k ] )
-1 |t return Draft ( self . name , None if self . _direct else self . _target . parent )
1 |t cdef size_t slot_capacity
1 |t o . p , o . importance , o . loss = self . scores [ k ] , importance , loss
-1 |t " l 2 _state " getattr ( rule , " contraction " , 1 . 0 ) ,
1 |t " G " np . pad ( self . G , ( 0 , self . n - before ) ) , " basis " self . basis , " root " self . root } )
1 |t if strength = = self . shrinkage . rate
1 |t if missed < size
-1 |t if was . get ( " name " ) ! = now [ " name " ]
1 |t static inline uint 64 _t vwlite_turn ( uint 64 _t x , int bits ) {
1 |t return self . _view ( self . a . distinct_hash , self . a . distinct , 4 , " I " )
-1 |t from typing import TextIO
-1 |t if name not in ( b " * * * shared * * * " , b " * * * label * * * " , * plain )
1 |t double positive_part " vwlite_positive_part " ( double x ) noexcept nogil
-1 |t " w_i < - soft ( w_i - eta_t g_i / H_i , eta_t l 1 / H_i ) , H = delta + sqrt ( sum of g ^ 2 ) " ,
-1 |t average bool None = None
-1 |t def _warn ( self , e Current ) - > None
-1 |t from vwlite . model . header import FIELDS , Newer , brief , check_header
-1 |t def two_loops ( self ) - > None
1 |t " " " ` move ` without visits the rate is made anew of G and N , which gives the same . " " "
1 |t return s . rate * s . decay / sqrt ( time )
-1 |t return text if len ( text ) < = 14 else text [ 11 ] + " . . . "
-1 |t if self . direct and not e . tag . startswith ( b " query ? " )
1 |t cdef inline int grow ( void * * array , size_t items , size_t size ) noexcept nogil
-1 |t " eg " ,
1 |t memcpy ( slot , given , self . stride )
-1 |t " " " Use the cache of an earlier run if there is one ; whether there is .
-1 |t return 1 if match [ 1 ] else 2 if match [ 2 ] else int ( match [ 3 ] or match [ 4 ] )
-1 |t " if l > 0 w < - w + l beta y Sigma x , Sigma_ii < - Sigma_ii - beta ( Sigma_ii x_i ) ^ 2 , "
1 |t return self . _view ( self . a . span_begin , self . a . lines + 1 if self . a . lines else 0 , 4 , " I " )
-1 |t self . file . close ( )
1 |t cdef inline bint is_far ( self ) noexcept nogil
-1 |t " " " How often to print an integer ( every so many ) or a factor such as 2 . 0 . ( factor , step ) . " " "
-1 |t s . say ( " using no cache " )
-1 |t probabilities = a . flag ( " probabilities " ) , scores = a . flag ( " scores " ) , subsample = a . get ( " oaa_subsample " , 0 ) ,
-1 |t if described [ 3 ] ! = ( None if columns = = 1 else str ( columns ) )
-1 |t UNKNOWN_COST = 3 . 4028234663852886 e 38 # of a class without a cost , in an example of several lines
-1 |t if 0 < q < 1
1 |t h * = scale
-1 |t " " " The places of n features , from 0 , in Vowpal Wabbit ' s order without a gap , then with more and more of them . " " "
-1 |t " " " What the labels of ` vwlite train ` may be their domain ( None anything ) , and how many classes there may be . " " "
1 |t if c . u ! = 0 and c . bound = = entry . rank
-1 |t f " { self . name } another job is writing it ; wait for it , or write to another file "
1 |t cdef double x
-1 |t put ( f " { len ( entries ) } { what } " )
-1 |t return 1 . 0
1 |t cdef double judge ( self , double p , double y , double * slope ) noexcept nogil
-1 |t exit_code = 71
-1 |t self . _run ( e , False )
1 |t hash [ i ] = hash_strings ( c . name [ i ] , c . length [ i ] , c . seed [ i ] )
1 |t @ sum . setter
-1 |t raise Critical ( f " can ' t open { path } , errno = { e . strerror } " , " io_adapter . cc " , 180 ) from None
-1 |t second = 0 . 0
-1 |t if name = = " interactions "
1 |t WeightedSlot * slot
1 |t memcpy ( & word , p , 4 ) ;
-1 |t labels tuple [ float , float ] None = None # ( negative , positive )
-1 |t learner = Svrg ( stepper , s . streams , s . statistics , s . learning_rate , a . get ( " stage_size " , 1 ) )
-1 |t help = " Cross any number of namespaces . " ) ,
-1 |t class Stalled ( Exception )
1 |t self . names = < Name * > calloc ( max ( room , < uint 32 _t > 1 ) , sizeof ( Name ) )
-1 |t stepper . min_label , stepper . max_label = limits
1 |t raise ValueError ( " the arrays have more features than there are " )
1 |t " " " Let the high part be all of the sum that a double can hold . " " "
-1 |t return re . fullmatch ( rf " \ . { re . escape ( self . _stem ) } \ . [ 0 - 9 a - f ] { { { 2 * _RANDOM } } } \ . tmp " , name ) is not None
-1 |t for name in NOT_SVRG
-1 |t a . get ( " id " , " " ) , stepper . min_label , stepper . max_label , self . setup . bits , list ( a . get ( " ngram " , [ ] ) ) ,
1 |t cdef float SMALLEST = 1 . 1754944 e - 38 # G below this counts as this , so that a rate is finite
-1 |t _loss = _option (
-1 |t oaa_subsample - ulong learn of so many other classes only
-1 |t def freeze ( self , more npt . NDArray [ np . uint 32 ] ) - > npt . NDArray [ np . uint 32 ]
-1 |t # The options of a loss , which are critical with another one .
-1 |t " " " The content of the live line ` 1 , 234 examples , 56 , 789 / s , 12 . 3 MB / s , 45 % , 0 12 left ` . " " "
-1 |t if not f . plain and ( name or text )
-1 |t def _array ( self , example Example , values list [ Any ] , name bytes ) - > None
-1 |t def shortest ( x float ) - > str
-1 |t head , p , power = text . partition ( " p " )
-1 |t count = len ( space . hashes )
-1 |t found = _ratio ( self . sum_loss , self . weighted_labeled_examples , " n . a . " )
1 |t cdef inline Reason one ( self , const Arrays * a , size_t line , double label , double importance ) noexcept nogil
-1 |t return np . where ( learned , x . astype ( np . float 32 ) * importance , np . float 32 ( 0 ) )
1 |t grown = < double * > realloc ( m . shifts , want * sizeof ( double ) )
-1 |t return f " { text } { e . tag . decode ( ' utf - 8 ' , ' surrogateescape ' ) } \ n " if e . tag else f " { text } \ n "
1 |t uint 32 _t place # in the list , from 1 ; 0 not in it
1 |t h = mix ( mix ( h , < uint 32 _t > word ) , < uint 32 _t > ( word > > 32 ) )
1 |t rule . tidy ( )
1 |t into a plain heap , which is small when it grows , everything is queued anew from the Theta of then on .
1 |t each = [ rule . scalars ( ) for rule in self . rules ]
-1 |t return [ f " { title } \ n { text } " ]
1 |t cdef Capped * capped # owned ; the features outside of the box
1 |t self . C = pa_c
1 |t cdef double p
-1 |t self . _entries list [ Entry ] = [ ]
-1 |t if e . target is None
-1 |t s . head = None
1 |t double z = s * s ;
-1 |t end = data . find ( b " \ n " , at )
-1 |t s . learning_rate = rate
-1 |t learner = Nn (
1 |t " " " Records by rising key , and the strays among them . " " "
-1 |t example . words = [ _word ( value ) ]
-1 |t raise Refused ( " - i with - - input_feature_regularizer " )
-1 |t " weight in it , and none in Vowpal Wabbit "
-1 |t from itertools import groupby
-1 |t def array_of ( data " bytes bytearray Array " , code Any ) - > Array
1 |t cdef double MARGIN = 2
-1 |t if bits ! = header . bits
1 |t if fabs ( o . slope ) > 1 e - 8
-1 |t shown + = f " ( { learner . shares_of_classes ( ) [ int ( learner . prediction ) - 1 ] * 100 . 0 f } % ) "
-1 |t " adagrad - rda " AdagradRda ,
1 |t self . has_constant = constant is not None
1 |t from vwlite . core . base . simd cimport are_digits , decimal , digits_of , last_of , load 64
1 |t elif domain = = " nonnegative "
1 |t if o . loss - o . loss ! = 0
1 |t uint 64 _t w = text [ i ] , v = more [ i ] , left = length [ i ] , shift , digits , first , bad ;
-1 |t def _begin ( self , weights Weights ) - > None
1 |t first = 4 * i + 1
-1 |t crosses = f " { option } { pattern } crosses namespaces that begin with { ' , ' . join ( pattern [ - 1 ] ) } and { pattern [ - 1 ] } "
1 |t copy ( self . a . kind + self . a . lines , other . a . kind + begin , lines )
1 |t a = weights
1 |t " " " v * = e ^ ( step x ) , for a piece . " " "
-1 |t s . streams . info ( f " m = { s . batch . solver . m } , allocated { s . batch . megabytes } M for weights and mem " )
-1 |t return Settings ( * * values )
-1 |t w = _sort_general ( size / unit , z / unit / a_unit , scaled , b / unit )
1 |t def weights ( self , const unsigned char [ 1 ] slots , double [ 1 ] out )
-1 |t held = np . asarray ( told . held , np . bool_ ) [ counts ]
-1 |t " " " The part of a fingerprint that says which program made a cache , and where . " " "
1 |t own = { " w " self . w , " sums " self . sums , " G " self . G , " basis " self . basis , " root " self . root }
1 |t bint columns = True , bint packed = False , bint wary = False )
-1 |t raise Critical ( " JSON parser error objects are nested too deeply " , " parser . cc " , 100 ) from None
1 |t float * size
1 |t exp ( s_r - s_y ) ) the slope for class r is P ( r ) - [ r = y ] , P ( r ) = exp ( s_r ) / sum of exp ( s ) .
-1 |t def finish ( self , skipped int = 0 , classes Sequence [ str ] = ( ) ) - > " CacheReader "
-1 |t s . sum_loss_since_last_dump + = learner . unlabelled_weight - s . weighted_unlabeled_examples
-1 |t return begin = = b " " or begin . startswith ( MAGIC [ - 2 ] ) or _FOREIGN . match ( begin ) is not None
1 |t " " " slope that of p and y . " " "
-1 |t self . weight = to_float ( 2 * positive * exp ( power ) / ( 3 * self . size ) )
-1 |t return f " state_ { name } is not one number for each key " + ( " and class " if k ! = 1 else " " )
1 |t " " " Decimal numbers [ + - ] digits [ . digits ] [ e [ + - ] digits ] , also ` . 5 ` and ` 5 . `
1 |t self . tag_capacity = want
1 |t self . heap [ i ] = self . heap [ up ]
1 |t if not self . numbered and batch . spell_out ( )
-1 |t old = getattr ( model , name )
-1 |t return f " { e . prediction . 4 f } "
1 |t root = sqrtf ( SMALLEST if G [ i ] < SMALLEST else G [ i ] )
-1 |t except ValueError as e # the sum is right somebody else ' s batch
1 |t cdef int failed = 0
1 |t cdef class Coin ( Rule )
-1 |t " " " The linear model itself the stepper ' s rule . " " "
-1 |t if len ( set ( names ) ) < len ( names )
-1 |t several = several or len ( { first , kept , vote } ) = = 3
1 |t letter , starts = self . a . letter + self . a . spans , self . a . feature_begin + self . a . spans + 1
-1 |t made = [ ( one [ 0 ] [ 0 ] , one [ 0 ] [ 1 ] * two [ 0 ] [ 1 ] ) ]
-1 |t " boundscheck " False ,
1 |t for line in bytes ( first_bytes ) . removeprefix ( b " \ xef \ xbb \ xbf " ) . split ( b " \ n " )
1 |t uint 64 _t words [ 4 ]
-1 |t " " " The float in a state . " " "
-1 |t def _multiply ( self , one list [ tuple [ int , float ] ] , two list [ tuple [ int , float ] ] ) - > list [ tuple [ int , float ] ]
-1 |t " " " The constant with the least loss , and its average loss if that is known . " " "
-1 |t if not ( - size / / 2 < = number < size / / 2 if signed else - size < number < size )
1 |t slots [ i ] . w + = < float > ( step * x [ i ] )
1 |t def __getitem__ ( self , size_t i )
-1 |t def regularize ( self ) - > float
1 |t The products of a line with thousands of features are millions . More features than ` bound ` come in pieces of ` piece ` ,
-1 |t _add ( archive , " header " , f " < U { len ( header ) } " , " ( ) " , memoryview ( header . encode ( " utf - 32 - le " ) ) )
-1 |t self . _write ( index )
1 |t o . p = self . clipped ( raw )
1 |t self . active + = self . zeros
1 |t size_t line_ends " vwlite_count_lines " ( const uint 8 _t * p , size_t size ) noexcept nogil
1 |t self . move ( BLOCK / s . m , - s . block - 1 , BLOCK / old_m , - old_block - 1 )
-1 |t rb " [ \ t \ n \ v \ f \ r ] * ( [ - + ] ? ( ? 0 [ xX ] ( ? [ 0 - 9 a - fA - F ] + \ . ? [ 0 - 9 a - fA - F ] * \ . [ 0 - 9 a - fA - F ] + ) ( ? [ pP ] [ - + ] ? \ d + ) ? "
1 |t SCALARS = [ " t " ] # attributes that are the rest of the state
-1 |t self . first , self . second = letters . encode ( ) [ 2 ]
1 |t cdef int keep_words ( Batch batch , const char * words , const char * words_end , const char * tag ,
-1 |t if a . flag ( " baseline " )
1 |t self . learn ( & chunk , step )
-1 |t hashes list [ int ] = field ( default_factory = list )
1 |t cdef double sum = 0 , largest = self . scores [ self . best ( named ) - 1 ]
-1 |t def read_number ( text bytes ) - > tuple [ float , int ]
1 |t self . touched + = 1
1 |t cdef double g 2 = o . importance * ( 1 if self . adax else o . slope * o . slope )
-1 |t labels tuple [ float , float ] None = None
1 |t cdef inline double clipped ( self , double p ) noexcept nogil
-1 |t return ( type ( x ) is float and isfinite ( x ) ) or ( type ( x ) is int and - LARGEST < x < LARGEST )
-1 |t learner . report_at = self . interval . advance ( tally . weight + learner . unlabelled_weight )
-1 |t found . append ( _settled ( pattern ) )
1 |t " " " What is wrong with arrays that were read , if something is . " " "
-1 |t class PredictOptions ( InputOptions )
1 |t # Why ` run ` came back .
-1 |t low = points [ reached [ 0 ] ] if len ( reached ) else 0 . 0
1 |t elif put ( & self . queue , entry )
1 |t return k * 0 x 1 b 873593 u ;
1 |t trouble_at ( trouble , OUT_OF_MEMORY , p , end )
-1 |t self . stepper . rule . more_squares = self . more_squares ( e )
-1 |t s . streams . warn ( f " limiting to { limit } features for namespace { chr ( letter ) } " )
-1 |t for letter in sorted ( set ( letters ) )
-1 |t if key not in self . marginals
1 |t before = self . active
-1 |t " " " The example at hand , on its way through the layers . " " "
-1 |t text ( h . id )
-1 |t sys . stdout = _text ( Output ( ) , " surrogateescape " , os . isatty ( 1 ) )
-1 |t f " { batch . source } { batch . first_line + line } 1 the prediction is not finite learning has diverged ; "
-1 |t if type ( kind ) is types . UnionType
-1 |t def bend ( self ) - > float
-1 |t floats = array ( " f " , self . weights . w [ there ] . tobytes ( ) )
1 |t " " " Many bytes of text at a time .
1 |t TWO_SIDED = False # whether a feature has 1 / v beside v
1 |t cdef Columns columns
-1 |t from math import exp , isfinite
-1 |t return index , [ float ( w ) for w in model . weights [ at * k ( at + 1 ) * k ] ] , True
1 |t SLOT = [ ( " mark " , " < u 4 " ) , ( " _at " , " < u 4 " ) , ( " z " , " < f 8 " ) , ( " S " , " < f 8 " ) , ( " _inverse " , " < f 8 " ) , ( " _bound " , " < f 8 " ) ]
1 |t " " " Reads the n bytes and none behind them . " " "
1 |t mark = keys [ i ] + 1
1 |t cdef inline double sigmoid ( self , double score ) noexcept nogil
1 |t " " " What is asked of the arrays of a model NumPy can do it too , but takes longer to load than most jobs to begin . " " "
-1 |t self . streams . warn ( words )
1 |t cdef void * * each # owned ; the same , borrowed
1 |t return self . shrunk ( n , learning_rate ( & self . schedule , self . t + 1 ) , examples )
-1 |t from vwlite . vw . layers . marginal import Marginal
-1 |t for batch , _ in self . reader . batches ( threads = 2 )
-1 |t " " " Go the way of ` vwlite predict ` , up to where it would read data . " " "
-1 |t raise Critical ( f " { path } { e } " , " main . cc " , 60 ) from None
-1 |t self . stable = { key w for key , ( w , ) in Layout ( stepper . rule , ( " w " , ) ) . read ( ) }
-1 |t " options " { * * as_options ( self . settings ) , * * self . _typed ( ) } ,
-1 |t if more = = 0
1 |t # which compilers turn into vector instructions . A feature that occurs twice in an example moves by the rate after
1 |t moved = w [ i ] * H - eta * g ; \ \
-1 |t return " keys are not ascending "
1 |t self . enormous = 0
-1 |t class Costs ( Packed )
1 |t return copysign ( ( self . t - s . account . since ) * fabs ( s . u ) - ( self . area - s . account . area ) , s . u )
-1 |t It adds up what each namespace has noted of its own those of - - ignore_linear too , and of - - sort_features and
1 |t return self . l 1 _norm ( )
-1 |t lines + = len ( parsed . batch )
-1 |t raise ValueError ( " expected a feature and its weight , with a space between them " )
1 |t SLOT = [ ( " mark " , " < u 4 " ) , ( " w " , " < f 8 " ) ]
1 |t s . w = v / self . average
-1 |t if len ( letters ) ! = 2
1 |t self . waiting_size + = 1
1 |t self . learn_pieces ( e , slope , 0 )
1 |t self . gravity + = bare * self . l 1
1 |t cdef double norm = self . l 1 _norm ( )
1 |t self . S . low = x
1 |t even + = soft_threshold ( slots [ i ] . w , self . gravity ) * x [ i ]
1 |t c . head [ n ] , c . more [ n ] = load 64 ( p ) , load 64 ( p + 8 )
-1 |t kept = both ! = 0
-1 |t def __init__ ( self , on_stop Callable [ [ ] , None ] None = None ) - > None
-1 |t if self . name in CHOICES and text not in CHOICES [ self . name ]
-1 |t if run . raw is not None
1 |t cdef void count_squares ( self ) noexcept nogil
-1 |t raise ValueError ( f " { brief ( name ) } of the rule ' s state is { brief ( repr ( value ) ) } " )
-1 |t head = self . _read ( )
1 |t x ^ = x > > 12
1 |t ` slots ` and ` table_load ` have single records , of ` slot_size ( ) ` bytes , with the keys as they are outside .
1 |t at + = head + 4 * width
1 |t float * value ) noexcept nogil
-1 |t # The rate of AdaGrad falls for each feature by itself , so the common one stays .
-1 |t " " " Vowpal Wabbit ' s model files binary , and the text of ` - - readable_model ` and ` - - invert_hash ` . " " "
-1 |t self . holdout_loss + = loss
-1 |t " " " The next bytes as they are stored ; nothing at the end , or when ` stop ` says so . " " "
-1 |t self . _take ( run , other )
1 |t return text . write ( self . names . names [ number - 1 ] . text , self . names . names [ number - 1 ] . size )
1 |t self . count ( 0 , self . part ( s ) )
1 |t cdef void end_crossing ( self , const Arrays * a , size_t line ) noexcept nogil
1 |t 1 e 16 , 1 e 17 , 1 e 18 , 1 e 19 , 1 e 20 , 1 e 21 , 1 e 22 , 1 e 23 , 1 e 24 , 1 e 25 , 1 e 26 , 1 e 27 , 1 e 28 , 1 e 29 , 1 e 30 , 1 e 31 ,
1 |t cdef bint careful , only_ends , packed
-1 |t if self . at < len ( line ) and line [ self . at ] ! = 13
1 |t self . patterns = list ( interactions )
-1 |t self . _take_names ( cache . classes )
-1 |t weight of its own ( ` - - global_only ` ) , not that of the constant .
1 |t cdef struct Odometer
-1 |t def apply ( self , example Example ) - > None
-1 |t return ( " w " , " G " , " N " )
-1 |t for _ in range ( n - 1 )
1 |t for i in range ( self . size )
-1 |t unseen + = 2
1 |t cdef uint 64 _t d # of which p is made
-1 |t e . made_names = names and ( [ b " " ] if self . separate else [ names [ i ] for i in one ] )
-1 |t if not begin
1 |t Classifier . update ( self , e , o )
1 |t number_names_portable ( n , & head [ 0 ] , & length [ 0 ] , & seed [ 0 ] , & hash [ 0 ] )
-1 |t if name in self . codes and name not in self . fields [ width ] and x ! = 0
-1 |t for index , source in enumerate ( sources )
-1 |t self . _open_already = _open_already ( self . name )
-1 |t return Softmax ( rules )
-1 |t if self . _goes_alone ( )
1 |t if s . since ! = 0 and s . mark ! = self . constant
-1 |t self . run , self . path = run , a [ " audit_regressor " ]
1 |t cdef bint has_constant
1 |t return part . begun
-1 |t " " " UsageError if these were not taken together . typed those settings that somebody chose . " " "
-1 |t " " " Learn the class itself and ` subsample ` others , which come round in a random order . " " "
-1 |t class Classes ( click . ParamType )
-1 |t if learner . distinct_labels = = 2 and settings . loss = = " squared " and not loss_typed
-1 |t text = printable ( text )
1 |t def __len__ ( self )
-1 |t WIDEST = 1 e 150 # the largest weight over the smallest their squares are added
1 |t cdef const AveragedSlot * s = < const AveragedSlot * > slot
1 |t def value ( self )
-1 |t return isinstance ( x , list ) and all ( isinstance ( item , dict ) for item in x )
-1 |t " loss_functions . cc " , 520 ,
-1 |t for letters_of in product ( * choices )
1 |t def murmur 3 ( bytes data , uint 32 _t seed )
1 |t elif label = = self . second_label
-1 |t from vwlite import cli
1 |t cdef inline bint lies_in ( const Letters * some , const Letters * all ) noexcept nogil
-1 |t target Any = None # such a label , read
-1 |t if settings . keep and settings . ignore
1 |t cdef int failed = self . begin_crossing ( a , line )
-1 |t from vwlite . vw . statistics import ConstantLoss , Statistics
-1 |t prediction less its gradient would have been . inpass the features of the example are also features of the last
-1 |t " r = - - arow - r " ,
-1 |t data = data . lstrip ( b " \ 0 " )
-1 |t kept = copy ( e )
1 |t free ( queue . buckets [ i ] . entries )
-1 |t names [ line ] = { letter space . names for letter , space in example . spaces . items ( ) }
1 |t cdef int resolve_all ( self , const uint 32 _t * keys , size_t n , char * * out ) noexcept nogil
-1 |t initial_weight - float with what all weights begin
1 |t self . visited = v
1 |t self . top = top
1 |t elif self . stage = = TERMS
1 |t at + = sizes [ 6 ]
1 |t if rest = = 0
-1 |t shown , kept , scores = e . prediction , e . partial , e . scores # type ignore [ attr - defined ]
1 |t s . bound = INFINITY # an entry from earlier is stale
1 |t new = u + by
1 |t if self . room ( part . size )
1 |t cdef char * slots # owned ; capacity slots , and one more for the key 2 ^ 32 - 1 , whose mark would be 0
1 |t self . d = d
1 |t if self . a . lines = = 0
-1 |t " " " One against all , where several classes may be right . " " "
1 |t cdef inline Slot * active_slot ( self , size_t i ) noexcept nogil
1 |t cdef size_t record = self . record
-1 |t zero , clip = size / a , ( size - b ) / a
-1 |t return oaa # type ignore [ no - any - return ]
1 |t cdef inline void push ( self , uint 32 _t key ) noexcept nogil
-1 |t self . held dict [ int , list [ int ] ] = { }
-1 |t yield self . current ( batch , line , names )
-1 |t " " " A link that makes no sense of the loss . " " "
1 |t low , high , whole , binary = 1 , classes , True , False
1 |t # define VWLITE_LN 2 _HIGH 0 x 1 . 62 e 42 fefap - 1 / * short n times it is exact * /
-1 |t from typing import TYPE_CHECKING , NamedTuple
-1 |t power_t float = 0 . 5
1 |t VWLITE_FTRL_FOLLOW ( vwlite_ftrl_follow_sums , double )
1 |t " " " Go through the examples of a batch , if there is anything left to look for . " " "
-1 |t csv_separator - str what separates the columns
-1 |t " " " The slots and floats of ` - - output_feature_regularizer_binary ` and ` _text ` . " " "
1 |t cdef bint next ( self , Example * part ) noexcept nogil
-1 |t os . fstat ( fd )
1 |t elif s . mark ! = self . constant # ` descend ` knows the constant by its 0
-1 |t cached_now bool = False # in this pass a cache is read
-1 |t if ( temporary = self . _temporary ) is not None
1 |t slots , x , n = < Slot * * > part . slots , part . x , part . size
1 |t self . _shared ( " elapsed " , value )
1 |t n = min ( n , size - self . expander . constant )
1 |t if k ! = y
1 |t kept = gather ( & v [ 0 ] , n , simplex , top , t , & out [ 0 ] , & total )
1 |t " " " w < - w + u M x G ^ - power_t / N " " "
-1 |t of_one_class = " oaa " in a or " ect " in a
-1 |t self . _parsing = parsing ( ) if helps else None # the consumer ' s
-1 |t if len ( cost ) > 1
-1 |t self . predicts_apart = True
-1 |t " index " " feature index ' { token } ' is not a whole number " ,
-1 |t return f " { source } . vwlite - cache "
-1 |t with AtomicFile ( self . path ) as file
1 |t # Where the product of the namespaces of an interaction stands .
1 |t while not failed and self . fill ( )
-1 |t " where N_i grows , w_i < - w_i ( N_i before / N_i ) ^ ( 2 - 2 power - t ) \ n "
1 |t uint 64 _t read_values_portable " vwlite_read_values_body " (
-1 |t if self . file is not None
1 |t def __init__ ( self , list rules not None )
1 |t cdef Example e = Example ( self . size , self . slots , self . values , initial , importance , NULL , False , True )
-1 |t " Computation 132 , 1997 "
-1 |t buffer , begin = piece . buffer , piece . begin
-1 |t def build ( a Arguments , s Setup ) - > Layer
-1 |t if due or not self . weights
1 |t def norm_sum ( self )
-1 |t weights = normal_weights ( slots , stride , a . flag ( " truncated_normal_weights " ) )
1 |t if self . slot_of ( bucket . entries [ j ] ) ! = NULL
1 |t c . bound = max ( self . rank ( fabs ( c . u ) ) , self . queue . last )
1 |t self . a . letter [ at ] , self . a . feature_begin [ at ] = letter [ i ] , < uint 32 _t > to
1 |t for i in range ( BINS )
1 |t " " " Add n features with v = 1 to the sums . " " "
-1 |t self . stepper , self . counts = self . bottom . stepper , counts
-1 |t best , score = first , float ( " inf " )
-1 |t self . v = [ 1 . 0 ] * rounds
1 |t " " " Make the zeros a level . " " "
-1 |t from vwlite . errors import DataError , NoInputError
1 |t raise ValueError ( " a feature is neither active nor not " )
-1 |t return Header (
-1 |t " " " Classes , separated by commas . " " "
1 |t error = fma ( v , scale , - product )
-1 |t def update ( self , held bool , labelled bool , loss float , weight float , features int ) - > None
1 |t batch . a . letter [ batch . a . spans ] = letter
-1 |t classes list [ str ] = field ( default_factory = list ) # the names that were found with - - classes auto
1 |t cdef void settle ( self ) noexcept nogil
-1 |t " Ross , Mineiro , Langford 2013 ; Karampatziakis , Langford 2011 " ,
-1 |t self . streams . say (
1 |t return self . find ( name , len ( name ) )
1 |t # NULL , with the trouble noted . Then the batch ' s arrays may hold a part of the line behind their
1 |t * * schedule )
1 |t PADDING , are_digits , decimal , delimiters , delimiters_portable , digits_of , first_bytes , foretold , last_of , likely ,
-1 |t " " " The number of a class , which may have a name . " " "
-1 |t # be written from their beginning , and a pipe could not be found .
-1 |t if self . simulation
-1 |t tag = e . tag . decode ( " utf - 8 " , " surrogateescape " )
-1 |t assert self . weights is not None
1 |t step = - o . slope * o . loss * beta # the slope of the hinge loss is - y
1 |t s . since = 1
1 |t if self . add ( text , size )
1 |t l is the hinge loss . The importance h multiplies it in the objective ; where the loss must vanish , in PA , h makes no
-1 |t for name in ( * a . options , * a . schedule )
1 |t are no part of S . If that is not enough , the shift rises ; when it takes more of a capped feature than what is
1 |t self . out_of_memory = append ( & self . waiting , Entry ( 0 , key ) ) ! = 0
1 |t for number in range ( count , self . count )
1 |t taken for an active one when it is learned ; and zeros that were not to be lifted would be lifted all the same .
1 |t if self . classes
-1 |t early [ found ] = result
-1 |t return 128 + signals . number
-1 |t return indent ( line , " " * left )
1 |t MOST_DIGITS = 800 # a double is settled by its first 770 digits and " more follows "
1 |t cdef bint labelled , held , learns
-1 |t if " invert_hash " in a
-1 |t " " " A number of a row . " " "
1 |t self . update_one_by_one ( e , step )
-1 |t self . statistics . dump_interval = self . step
1 |t if d = = NULL
-1 |t check_settings ( settings )
-1 |t low , high = min ( costs ) , max ( costs )
1 |t cdef inline void drop ( self , Cell * c ) noexcept nogil
1 |t if isnan ( label )
-1 |t return ( " w " , )
-1 |t for name in sorted ( set ( old ) set ( new ) )
-1 |t def __init__ ( self , l 2 float ) - > None
1 |t cdef int write_all ( self , Text text , const double * numbers ) noexcept nogil
1 |t self . take_part ( s , self . capped [ first ] . u )
1 |t u = max ( u , fabs ( s . u ) )
1 |t return CONSTANT & self . mask if self . constant else None
1 |t cdef Name name
-1 |t self . live_clear_if ( parsed )
-1 |t more = { n . removeprefix ( " more_ " ) _array ( archive , n ) for n in names if n . startswith ( " more_ " ) } ,
-1 |t NO_CONFIDENCE = (
-1 |t COUNTERS = ( " examples " , " unlabelled " , " features " )
1 |t # Bit i p [ i ] is ' ' or ` other ` or at most 0 x 20 , for i from 0 to 31 .
1 |t cdef void end_pieces ( self ) noexcept nogil
-1 |t learner Learner ,
-1 |t p = scores [ ( self . _number ( e ) - self . first ) % ( 1 < < 32 ) % len ( scores ) ]
1 |t g . features [ j ] . slot , g . features [ j ] . x = < char * > s , part . x [ i ]
1 |t self . columns . repeated = True # x has the sums
-1 |t positive = self . regret if self . regret > 0 else 0 . 0
-1 |t " " " Its own options as they are typed , with their defaults ; those of the rate only where they are its own too . " " "
-1 |t def explain (
-1 |t lrq - list [ str ] keep crosses of low rank two namespaces and the rank
-1 |t " importance h of "
1 |t self . progressive , self . holdout = self . new_tally ( ) , self . new_tally ( )
-1 |t " name " os . path . basename ( source ) ,
1 |t slot = old + i * self . stride
-1 |t head = head . rstrip ( " 0 " ) . rstrip ( " . " )
-1 |t " " " Data of which a model knows little . One that is sparse on purpose should know some feature of most examples . " " "
1 |t return text [ write_short ( text , number ) ] . decode ( )
-1 |t stage_size - int passes between two whole gradients
1 |t " " " AdaGrad on the l 1 ball w < - argmin over w _ 1 < = radius of the distance to w - eta_t g / H , in the norm of H .
-1 |t _DECIMAL = re . compile ( r " \ s * [ - + ] ? ( \ d + \ . ? \ d * \ . \ d + ) ( [ eE ] [ - + ] ? \ d + ) ? " , re . ASCII )
-1 |t from vwlite . core . data . expand import CONSTANT_HASH
1 |t return word ;
1 |t self . put ( { name np . zeros ( ( 0 , ) * dimensions ) for name , dimensions in ARRAYS . items ( ) } )
1 |t uint 64 _t begin # the offending token , as offsets into the block
1 |t sum + = square * powf ( max ( s . G , SMALLEST ) , - power_t ) * powf ( s . N * s . N , power_t - 1 )
-1 |t " " " Whether the next example must not go through the engine ' s loop , whatever it is .
-1 |t total = weight = vote = lost = 0 . 0
-1 |t partial . append ( bytes ( piece . view ( max ( begin , end ) , piece . end ) ) )
1 |t return { name getattr ( self , name ) for name in self . SCALARS }
1 |t cdef double g 2 = min ( o . importance * o . slope * o . slope , FLT_MAX )
-1 |t return part + f " ; the model as of then is { self . file . name } , - i continues it "
-1 |t idle = { }
-1 |t group str = " Options " ,
-1 |t def describe ( path str , model " Model " ) - > dict [ str , Any ]
-1 |t return struct . unpack ( " < f " , struct . pack ( " < I " , bits ) ) [ 0 ] - 1 . 0 # type ignore [ no - any - return ]
-1 |t # Those at theta itself change nothing there .
1 |t MARKS = 2048 # delimiters that are looked at together
1 |t " " " Make ` n ` more keys fit forget the idle slots , then double as long as it is needed . " " "
1 |t char * slot
-1 |t def _entries ( found Any , end int ) - > Iterator [ Entry ]
1 |t memset ( self . crossed , 0 , 256 )
-1 |t if drops and self . random . next ( ) < = 0 . 5
-1 |t rest = [ ( key , x ) for key , x in zip ( keys , values , strict = True ) if key not in gone ]
1 |t cdef inline Decimal read_decimal ( const char * p ) noexcept nogil
1 |t cdef float * gathered_value
-1 |t self . warn_of_update ( self . stepper . rule_of ( e . model ) )
1 |t elif self . write_name ( self . predictions , < size_t > p )
-1 |t if max ( begin , end ) < piece . end
-1 |t raise Critical ( f " Multiple characters or a reserved one { self . separator } " , " parse_example_csv . cc " , 40 )
-1 |t return text_head ( h ) + " 1 \ n " + " " . join ( f " { slot } { show ( x ) } \ n " for slot , x in zip ( slots , floats , strict = True ) )
1 |t cdef bint moved = g . any ( )
1 |t self . radius , self . features = radius , features
-1 |t self . _learn_one ( e )
-1 |t keep - list [ str ] keep use only these namespaces
-1 |t return self . at > = len ( self . line ) or self . line [ self . at ] in ends
1 |t free ( self . a . label )
-1 |t piece = decompressor . decompress ( data , BLOCK_SIZE )
1 |t cdef Visit v = self . visited
1 |t if unlikely ( index < = previous )
-1 |t raise UsageError ( f " { option_name ( name ) } needs - - model " )
-1 |t k = floor ( ( self . width - i - s ) / 2 )
1 |t if self . out_of_memory
1 |t letters . words [ letter > > 6 ] = < uint 64 _t > 1 < < ( letter & 63 )
-1 |t " max - errors " o . max_errors ,
-1 |t return f " ; no example was learned , { self . file . name } is left as it is "
-1 |t raise NoInputError ( f " the cache cannot be read { e . strerror } " ) from e
-1 |t rule . table_load ( layout . write ( model . slots , model . floats , model . width , defaults ) )
1 |t self . count_untouched ( self . features - self . touched )
1 |t cdef Py_ssize_t i , k , at = 0 , head = 8 if wide else 4 , n = keys . shape [ 0 ]
-1 |t SANITIZE = [ " - O 1 " , " - g " , " - fno - omit - frame - pointer " , " - ffp - contract = off " , " - fsanitize = address , undefined " ]
1 |t cdef float average # A , with that example
1 |t if u ! = 0
-1 |t self . _full . put ( ( number , None ) )
1 |t if self . apart and learns
-1 |t " gradient descent , projected onto the l 1 ball after every example " ,
-1 |t finish Callable [ [ ] , None ] None = None # what follows the last pass
1 |t sum + = self . now ( slots [ i ] ) * x [ i ]
-1 |t following [ i ] . append ( players [ - 1 ] )
-1 |t self . rule , self . fields = rule , tuple ( fields )
1 |t vwlite_hash_names_body ( n , head , more , length , seed , hash ) ;
1 |t # - - - what Python sees - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
1 |t failed = append ( & queue . buckets [ bit_length ( entry . rank ^ to ) ] , entry )
-1 |t if not self . afterwards
-1 |t batch = next ( ( name for name in ( " bfgs " , " conjugate_gradient " ) if name in a ) , None )
1 |t return Reason . TOO_MANY
1 |t example does not touch z = sign ( w ) ( H w + Theta ) , w = soft ( z , Theta ) / H . The sums are S = sum of z_i / H_i and
1 |t from cpython . bytes cimport PyBytes_FromStringAndSize
-1 |t s . holdout_loss + = held . loss - s . holdout_loss_since_pass
-1 |t def shown ( token bytes ) - > str
1 |t # include < stdint . h >
-1 |t self . setup , self . multiplier , self . separate = s , multiplier , separate
1 |t s . w * = s . N / size [ i ]
-1 |t CHANGEABLE = ( " learning_rate " , " decay_learning_rate " , " l 1 " , " l 2 " , " radius " , " round_at_end " , " link " )
-1 |t if self . owner and self . owner . pool
1 |t queue . size = 0
-1 |t # Where the range of predictions begins , before it follows the labels ; for rules that clip .
-1 |t for parsed in inner . enter_context ( batches )
-1 |t if self . file is None
-1 |t if self . shape . plain
1 |t return " vw "
1 |t def weight_sum ( self , value )
1 |t c . value_length [ n ] = < uint 32 _t > ( q - p )
-1 |t " " " The numbers of a view , one after the other . " " "
-1 |t " with examples that bring a step . " ,
1 |t steps , factors = self . steps , self . factors
-1 |t if abs ( w ) > edge
-1 |t " " " NoInputError for the first source that cannot be read , before anything is read . " " "
1 |t if number . end ! = begin + c . value_length [ i ] or not isfinite ( number . value )
-1 |t size , last = size + length , None
-1 |t found dict [ int , float ] = { }
-1 |t min_prediction - float the least prediction
-1 |t prediction float str
-1 |t class Boosting ( Layer )
-1 |t def _constant ( self , keys list [ int ] ) - > int None
1 |t raise ValueError ( f " indices are integers , not { indices . dtype } " )
1 |t " " " w _ 1 = S - rho Theta " " "
1 |t return [ marks [ i ] for i in range ( n ) ] , reached - p
-1 |t csv - bool the data are CSV
1 |t / * Names that are 1 to 8 digits are hashed to their number . * /
1 |t The d_i , whose sum is ` total ` , are at most 0 , and one is 0 . They are overwritten ; ` spare ` has room for n more .
-1 |t for sink , _ in self . _sinks
1 |t " " " Count S anew , as its unit follows the radius , and project . " " "
1 |t when its weight is read , and has its own u from then on .
-1 |t if value and not _is_object ( value )
-1 |t raise Critical ( " Low - rank quadratic features must involve two sets and a rank " + text , " lrq . cc " , 209 )
1 |t def set_weight ( self , uint 32 _t key , float w )
-1 |t @ click . argument ( " files " , nargs = - 1 , required = True , type = PATH , metavar = " FILE . . . " )
1 |t VWLITE_CLONES static int vwlite_all_below ( const uint 16 _t * number , size_t n , size_t limit ) {
-1 |t if name not in header
-1 |t raise UsageError ( f " - - quantile - tau means nothing to - - loss { settings . loss } add - - loss quantile " )
-1 |t raw = self . rows . times ( self . weights . w )
1 |t from vwlite . core . data . batch cimport Batch
-1 |t return " " if e . raw_scores is None else tagged ( " " . join ( f " { i } { p g } " for i , p in e . raw_scores ) , e )
1 |t replace ( R , inverse , old_inverse )
1 |t while ( < size_t > 1 < < bits ) < capacity
-1 |t bottom = self . bottom
1 |t cdef Rule rule = rules [ 0 ]
-1 |t numbers for a cache , whose batches number their distinct hashes . packed labels are not simple .
-1 |t size = len ( data )
-1 |t from vwlite . core . vw . stepper import Stepper
-1 |t class Multiclass ( Packed )
-1 |t yield f " { crosses } no example has them all "
1 |t if expansion ! = WHOLE
1 |t cdef double * factors # owned ; . . . and e to that
-1 |t raise UsageError ( f " - - oaa { count } contradicts - - classes , which names { len ( names . split ( ' , ' ) ) } leave - - oaa out " )
1 |t if sizes [ i ]
1 |t cdef char * data
1 |t if self . wild
1 |t self . waiting [ i ] , self . waiting [ kept ] = self . waiting [ kept ] , s
-1 |t class _Parsing ( Parsing )
-1 |t elif a . flag ( " csv " )
1 |t self . norm_sum = self . weight_sum = 0
-1 |t " " " The weight in a place , which is no longer 0 when it has been learned . " " "
1 |t cdef size_t terms_size
1 |t self . sum + = self . units ( s . u )
-1 |t options = _options ( s , whole )
-1 |t ( " sum_loss_since_last_dump " , " < d " ) , ( " dump_interval " , " < f " ) , ( " min_label " , " < f " ) , ( " max_label " , " < f " ) ,
1 |t are dropped at once .
-1 |t s . see_label ( e . label )
-1 |t return SCHEDULE if self . rate = = " learning_rate " else ( )
1 |t if k < named
-1 |t self . fail ( f " { value } is out of range it must be { self . _range ( ) } " , param , ctx )
-1 |t self . loss = self . stepper . loss
1 |t if old = = 0
1 |t c = self . columns
1 |t memcpy ( target + size , source , self . record )
-1 |t self . labels . append ( e . label )
-1 |t learned = np . asarray ( told . learned , np . bool_ )
-1 |t " non - negative . Use 0 to hold an example out of training . "
1 |t # What a slot keeps beside its state . An account that is closed holds ` sum ` and zeros .
-1 |t def _offsets ( n int , skips int ) - > list [ list [ int ] ]
1 |t number_names ( c . size , c . head , c . length , c . seed , hash )
1 |t if zero < = low
1 |t self . look_at = scalars [ " look_at " ]
-1 |t " " " Active learning labels are asked for where they matter . In a simulation they are there , and left unread .
1 |t const char * base , const char * begin , const char * end , uint 32 _t * marks , size_t room ,
-1 |t e . prediction = self . stepper . learn ( e . label , e . weight , e . model , e . initial )
1 |t self . rule . update ( & e , & o )
1 |t cdef size_t gathered , gathered_capacity
1 |t the weights w = v / A as the last examples left them .
1 |t doubles [ i ] = sqrt ( numbers [ i ] ) if rooted else numbers [ i ]
-1 |t name = " lrq "
-1 |t step str # the formulas of one step , line by line
-1 |t texts = [ * _letters ( settings , namespaces ) , * _interactions ( settings , namespaces ) ]
1 |t s . bound = below ( new )
-1 |t * * options ,
1 |t more features . Python ' s handlers of signals run meanwhile too .
-1 |t elif reason ! = Reason . DONE
-1 |t keep , ignore = letters ( a . get ( " keep " , [ ] ) ) , letters ( a . get ( " ignore " , [ ] ) )
-1 |t def _wait ( self ) - > None
-1 |t " " " Tell of what the last update of a rule met . " " "
-1 |t for e in self . _examples ( batch , names )
1 |t self . settings . names = NULL if names is None else < void * > names
-1 |t dry_run - bool build everything and read no data
1 |t " " " Have ` run ` come back after the example that it is at ; before it , or with it learned in part , if it is an
-1 |t What remains when different ones cancel each other out ; if that was not a choice between two , the most frequent one ,
-1 |t " of importance 0 " ( learner . examples - learner . unlabelled ) / / passes ,
1 |t keys , n = self . expander . part . keys , self . expander . part . size
-1 |t " " " From files and standard input to parsed batches , and their cache . " " "
1 |t v . z [ i ] = constant
1 |t self . cut = self . maker . size
-1 |t self . learner . rule . pass_decay * = self . settings . decay_learning_rate
1 |t " " " The projection of w - eta g / H onto w _ 1 < = radius in the norm of H " " "
1 |t " " " The key of a hash in a model . " " "
-1 |t content = data [ end ]
-1 |t def make_loss ( settings Settings ) - > Loss
-1 |t def options_of ( a " Algorithm " ) - > list [ str ]
1 |t if indices . dtype . kind not in " iu "
1 |t cdef extern from " < math . h > " nogil
-1 |t path = self . _beside . lock
-1 |t spans = [ ( letter , space . hashes , space . values ) for letter , space in example . spaces . items ( ) ]
1 |t slots , x = < AveragedSlot * * > part . slots , part . x
-1 |t for flag , called in (
1 |t found = fixed + linear - p * slope
1 |t if a . kind [ i ] > REJECTED or ( a . kind [ i ] ! = EXAMPLE and a . span_begin [ i ] ! = a . span_begin [ i + 1 ] )
-1 |t raise DataError ( str ( b ) )
-1 |t def command ( options PredictOptions ) - > int
-1 |t # Active learning tells the importance of labels that it would like to have .
-1 |t from collections . abc import Iterator , Sequence
1 |t f = & self . expander . buffers [ ( line + 1 ) & 1 ]
1 |t if self . numbered and self . know ( a )
1 |t few features for each example . The model that is written has the N largest of the weights ; which they are is no part
-1 |t wolfe 1 = ratio ( self . loss_sum - self . last_loss_sum , self . step * before )
-1 |t if checksum ( view [ entry . gap ] ) ! = entry . sum or any ( view [ entry . gap ] )
-1 |t self . step = float ( np . float 32 ( - slope ) / np . float 32 ( curvature ) )
1 |t cdef const double [ 1 ] a
-1 |t " search_trained_nb_policies search_xv " ,
-1 |t show Callable [ [ float ] , str ] = _hexfloat if hexfloat else short
-1 |t if not self . _ends ( b " \ r " )
1 |t bucket . size + = 1
-1 |t rule = { name x for name , x in scalars . items ( ) if not isinstance ( x , memoryview ) } ,
-1 |t own list [ tuple [ int , float , bytes ] ] = [ ]
1 |t return size + write_unsigned ( out + size , < uint 64 _t > whole )
-1 |t " The online counterpart of l 1 regularisation every K examples all weights of at most theta are shrunk by what "
-1 |t def row ( self , label str , prediction str , features int , holdout bool ) - > str
-1 |t bits = reader . made_from . get ( " bits " )
-1 |t e . target = [ ]
1 |t cdef inline double wanted_shift ( self ) noexcept nogil
-1 |t from vwlite . vw . layers . base import Current , Layer , keep_lines
1 |t def __init__ ( self , double q = 0 . 5 )
1 |t SCALARS = [ * L 1 Ball . SCALARS , " area " ]
-1 |t j + = 1
-1 |t for group in self . _groups ( )
1 |t return Rule . predict ( self , e )
1 |t power - = 8
-1 |t " " " Take the example down . Its prediction is made anew , to be to the bit what it would be in a later pass . " " "
1 |t cdef int 64 _t coarse = 0 if u < self . small else llrint ( u * self . to_coarse )
1 |t from vwlite . core . learn . rule cimport Example , Outcome , learning_rate
-1 |t if { name array . format for name , array in model . state . items ( ) } ! = _state_codes ( rule )
-1 |t z = p - int ( p ) + ( 1 . 0 if p < 0 else 0 . 0 )
1 |t values , self . basis = np . linalg . eigh ( self . G )
1 |t pieces . append ( view_of ( self , arrays [ i ] , sizes [ i ] ) )
-1 |t " " " The predictions of the next pass . Where the curvature is measured , examples keep those that they had . " " "
-1 |t " without l 1 w < - w_t - eta_t S ^ - 1 g and w < - - eta_t S ^ - 1 ( sum of g ) " ,
-1 |t raw . append ( e . prediction )
-1 |t compressed - bool changes nothing data are decompressed by themselves
1 |t self . rules [ k ] . load ( each [ k ] , b " " )
1 |t & & __GNUC__ > = 12 & & ! defined ( __SANITIZE_ADDRESS__ )
-1 |t np . minimum ( self . h , np . float 32 ( LARGEST_RATIO / largest ) , out = self . h )
1 |t self . zeros = 0
-1 |t left , right = won [ 2 * j ] , won [ 2 * j + 1 ]
-1 |t s . kind , s . output = " CS " , " MULTICLASS "
-1 |t if e . errno not in _NO_FOLDER_SYNC
-1 |t if not stat . S_ISREG ( info . st_mode )
1 |t cdef inline int append ( Bucket * bucket , Entry entry ) noexcept nogil
-1 |t self . statistics . repeat ( self . counts , * self . setup . batch . repeat ( ) )
-1 |t from vwlite . vw . random import Random
-1 |t return vw . write_binary ( vw . Model ( header , state , 3 if whole else 1 , model . keys , floats ) )
-1 |t name = names [ start ]
-1 |t rows = tally . matrix ( self . learner . named )
-1 |t no_bias_regularization - bool the constant is not regularized
-1 |t from vwlite . options . groups import Command , PredictOptions , predict_options
1 |t return min ( strength , max ( self . strength , 2 * largest / rate ) ) # more than all of it at once
1 |t from vwlite . core . learn . rule cimport Example , Pieces
-1 |t streams . say ( f " Regressor contains { self . total } values \ nexample values total " )
1 |t self . expects = False
1 |t for k , rule in enumerate ( rules )
-1 |t raise UsageError ( " - - keep and - - ignore exclude each other name the namespaces of one kind " )
-1 |t if value in ALGORITHMS
1 |t hash , value , limit = batch . a . hash , batch . a . value , batch . feature_capacity
-1 |t " predictions " o . predictions is not None ,
-1 |t starts = [ text . rfind ( " \ n " , 0 , - 1 ) + 1 for _ , text in found ]
1 |t self . queue . size = 0
-1 |t self . inpass , self . dropout , self . multitask = inpass , dropout , multitask
1 |t for span in range ( first , last )
-1 |t lines [ " unlabelled examples " ] = learner . unlabelled
-1 |t raise Critical ( " Cannot use adax without adaptive " , " gd . cc " , 1290 )
1 |t levels are a stack , the lowest last . A slot knows what the next level was called when it was touched last if the
1 |t cdef uint 64 _t d = self . features
-1 |t quantile_tau float = 0 . 5
1 |t line of blanks only is BLANK , and so is a libsvm line with a comment only .
1 |t return trouble_at ( trouble , NAMESPACE_NAME , p , find ( p , ENDS_WORD ) )
-1 |t rest = memoryview ( data ) if data else self . _rest
1 |t bucket . size = kept
-1 |t h . crossings + = [ source . take ( size ) . decode ( " latin - 1 " ) for _ in range ( source . number ( " < I " ) ) ]
-1 |t def _zstd ( self ) - > Any
-1 |t POLL = 0 . 1 # seconds between two looks at ` stop ` while a pipe is silent
-1 |t batch . label [ line ] , batch . importance [ line ] , batch . initial [ line ] , batch . tag ( line ) , batch = batch , line = line ,
1 |t return min ( max ( score , self . low ) , self . high )
1 |t return < float > pow ( 1 / ( ratio * ratio ) , self . schedule . power_t - 1 )
1 |t r_i = G_i ^ - power_t * ( scale of N_i ) and M , the correction for the average scale of the features ,
-1 |t def _replayed ( a Arguments , s Setup , learner Layer , level str ) - > Layer
-1 |t model , by AdaNormalHedge ( Luo , Schapire . Achieving All with No Parameters , COLT 2015 ) .
-1 |t ignore_linear str = " "
1 |t if self . slots_of_queue ! = self . table . slots
1 |t cdef double e = exp ( - fabs ( yp ) ) # at most 1 , so nothing overflows
-1 |t self . name = " multilabel_oaa - prob " if probabilities else " multilabel_oaa "
-1 |t alphas . append ( rho * dot ( s , d ) )
-1 |t " algorithms " " Show what - - algorithm can be formulas , options , papers . " ,
-1 |t CROSSINGS_AMONG_OPTIONS Version = ( 7 , 10 , 3 ) # and no longer in the head
-1 |t def unescaped ( text str ) - > str
-1 |t why = f " of { learner . lines + bad } lines , { ' , ' . join ( found ) } " if found else " there is no example in the input "
1 |t def judge_each (
-1 |t coin - bool keep learn by betting on coins , without a rate
-1 |t one . label = - 1 . 0 if _cost ( one ) < _cost ( other ) else 1 . 0
1 |t for line in range ( begin , end )
-1 |t mapped = " " if ( low , high ) = = ( - 1 , 1 ) else f " - - labels { low g } , { high g } "
1 |t for i in range ( self . waiting )
-1 |t " " " Predict and learn an example , count it , and tell of it . " " "
1 |t failed = - 1
-1 |t if index . made_from . get ( " command " ) ! = " train " or not isinstance ( options , dict )
-1 |t at + = - at % size
-1 |t space . hashes . append ( f . hash ( piece , self . hash ) * ( AFFIX_PRIME + code * PRIME ) & MASK )
1 |t from vwlite . core . rules . radix_heap cimport (
-1 |t AVERAGED dict [ str , type [ Rule ] ] = {
-1 |t for b in parsed . bad
-1 |t behind = self . _single ( self . weight , self . keys [ i ] , model )
-1 |t os . fchmod ( fd , self . _mode ( ) )
-1 |t at = np . flatnonzero ( self . keys = = self . constant )
-1 |t _option ( " - - initial - t " , " initial_t " , group = _LEARN , vw = ( " - - initial_t " , ) , type = Number ( 0 ) , show_default = " 0 " ,
1 |t if self . features = = 0 or ( < const Slot * > slot ) . mark = = self . constant # it counts as a feature
-1 |t fields = model_fields ( a )
-1 |t self . _file . write ( _COMMENT % self . digest . hexdigest ( ) . encode ( ) )
-1 |t self . _on_stop = on_stop
1 |t cdef double SMALL = 1 < < 11 # of u in z up to so much an integer of 64 bits is enough
1 |t " " " The sigmoids of the scores , made to add up to 1 . ( If all of them are 0 , relative to the largest . ) " " "
-1 |t return " the weight table needs more than there is ; try fewer - - bits "
1 |t cdef size_t want = 2 * n
1 |t cmd w < - argmin eta_t < g , w > + c w _ 1 + w - w_t _S ^ 2 / 2
1 |t def __cinit__ ( self , Expander expander not None , Table table not None )
-1 |t " bern_hyper beta_scale block_size bonferroni_denominator cats cats_pdf cats_tree cb cb_adf cb_c_alpha cb_c_tau "
-1 |t # Learners that count the features of an example themselves .
1 |t cdef class AveragedTruncatedGradient ( TruncatedGradient )
1 |t " " " Have an example ' s features come in pieces ; - 1 no memory . " " "
1 |t self . norm = self . radius / ( sum / UNIT )
-1 |t return binary_head ( h ) + b " \ 1 " + b " " . join ( map ( entry . pack , slots , floats ) )
-1 |t " initial_weight " , " random_weights " , " normal_weights " , " truncated_normal_weights " , " noop " , " svrg " , " bfgs " ,
1 |t slots , x = < WeightedSlot * * > part . slots , part . x
1 |t hash , value = self . a . hash + self . a . features , self . a . value + self . a . features
-1 |t rule Rule = Ftrl (
1 |t cdef make_table ( self , size_t record , bytes blank , size_t records )
1 |t if ( s . domain = = BINARY and y ! = 1 and y ! = - 1 ) or ( s . domain = = NONNEGATIVE and y < 0 )
1 |t if self . at = = self . terms_size
-1 |t " theta < - soft ( theta - eta_t g , eta_t l 1 ) , w_j = sign ( theta_j ) theta_j ^ ( p - 1 ) / theta _p ^ ( p - 2 ) , "
-1 |t self . squared = Squared ( )
-1 |t return FreeGrad ( loss , epsilon = a . get ( " fepsilon " , 1 . 0 ) , restart = a . flag ( " restart " ) ) , " freegrad "
-1 |t self . main = main = base . bottom . stepper
-1 |t s = resolved . settings
1 |t " " " The slot that an entry stands for ; NULL if the entry is stale . " " "
-1 |t loss = ( chosen - least ) * e . weight
1 |t self . inverse_alpha , self . beta , self . l 1 , self . l 2 = 1 / ftrl_alpha , ftrl_beta , l 1 , l 2
1 |t self . format , self . loss_name = format , loss_name
-1 |t def __init__ ( self , seed int = 0 ) - > None
-1 |t for key in self . good
1 |t self . expanded = < size_t > - 1
-1 |t # A file name that is not UTF - 8 goes out as the bytes that came in .
1 |t a = min ( max ( a , - LARGEST_STEP ) , LARGEST_STEP )
-1 |t return f " label ' { token } ' is none of the classes { shown_names } ; - - classes must name them all "
-1 |t _option ( " - - period " , group = _LEARN , type = Whole ( 1 ) , metavar = " K " , show_default = " 1 " ,
1 |t digits = vwlite_choose ( point , digits > > shift , digits ) ;
-1 |t if passed > stop
-1 |t self . nonzeros , self . _counted_at = rule . count_nonzero ( ) , features
-1 |t learner = scalar . Lrqfa ( learner , * _lrqfa ( a ) , s )
1 |t new = np . linalg . solve ( S_A , b_A - c_A * signs [ A ] )
-1 |t if _is_object ( value )
-1 |t writer . add ( batch )
1 |t s . w + = < float > ( step * x )
-1 |t typed = f " { option_name ( name ) } { record [ 0 ] . split ( ' ' ) [ - 1 ] } "
1 |t def number_hashes ( self )
1 |t self . settle ( < AveragedSlot * > part . slots [ i ] )
1 |t self . gather ( a , span , last )
-1 |t header_lines list [ str ] = field ( default_factory = list )
1 |t low = middle + 1
1 |t if size = = 0 # there may be no memory to look at
-1 |t k = model . records
1 |t WINDOW = 4096 # blocks that have a sum ; a power of two
1 |t self . checkpoint_at = < uint 64 _t > - 1
1 |t ` to_unit ` and ` a_to_unit ` are powers of two that bring the largest v_i and a_i to about 1 .
-1 |t self . at = 1 . 0 if step is None else step
-1 |t def _raw_text ( e Current , partial float ) - > str
1 |t if self . classes or not self . signs or self . negative = = NULL
1 |t slot + = k * self . record
1 |t " " " S ^ - 1 v " " "
-1 |t from vwlite . core . text . parser import murmur 3
1 |t cdef size_t begin = 0
1 |t " " " A prediction as it is written . " " "
1 |t last = heap [ size ]
1 |t self . project ( ) # what one step has lost in digits before
1 |t # The rest in a copy , with the LF that the last line may lack .
1 |t at + = sizes [ 2 ]
1 |t " " " Forget all entries , and begin anew at ` last ` . " " "
-1 |t self . holdout_loss_since_dump + = holdout_loss
-1 |t " " " The file of the lock , and whether it was made for this . " " "
-1 |t if source . take ( 1 ) ! = b " m "
-1 |t if any ( ( c < = 32 and c ! = 32 ) or c in b " " for c in encoded ) or ( not self . wildcards and b " " in encoded )
1 |t free ( self . blank )
1 |t cdef double sum = self . sum + x
-1 |t layer = layer . base
1 |t x = size_of ( v [ i ] , signed )
1 |t if ( self . sum - self . active * self . shift ) + self . rest > self . radius
-1 |t w = merand ( place * self . setup . stride ) * size
-1 |t batch . source , batch . first_line = entry . source , entry . first_line
1 |t the queue would go back , and lose entries . So a round takes the larger one of its own Theta and the one before .
-1 |t noconstant - bool keep no constant feature
-1 |t self . learn_with ( e , place - circuit . k )
-1 |t # - - - floats , as they lie in Vowpal Wabbit ' s memory - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
-1 |t self . before_pass Callable [ [ ] , None ] None = None
-1 |t hashes , values , names = space . hashes , space . values , space . names
-1 |t self . _check_files ( )
1 |t cdef struct Queue
-1 |t " w_i < - w_i + u M x_i r_i \ n "
-1 |t def _not_finite ( model Model ) - > str None
-1 |t data = f . read ( )
-1 |t del won [ ( 1 + len ( won ) ) / / 2 ]
-1 |t at , end = 0 , len ( batch )
1 |t cdef bint averaging # slots are AveragedSlot
-1 |t if self . current_pass < = 1
1 |t What stands twice gets the sum in all its places , so that each of them computes the same and writing it twice does no
1 |t " " " Lines of output , waiting to be taken by Python . " " "
1 |t # - - - what Python fills in - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
1 |t chunk_of ( g , begin , chunk . size , self . columns . x )
-1 |t self . holdout_loss_since_pass + = holdout_loss
-1 |t link = a . get ( " link " , " identity " ) , names = names , probabilities = self . shares , short = True ,
1 |t cdef size_t i = 0
-1 |t self . _written = self . _direct
-1 |t self . learn ( e )
1 |t cdef double smallest = 1
-1 |t Johnson , Zhang . Accelerating Stochastic Gradient Descent using Predictive Variance Reduction . NIPS 2013 .
1 |t if batch . a . feature_begin [ span ] < batch . a . feature_begin [ span + 1 ]
-1 |t raise damaged ( path , " its checksum is wrong " )
1 |t q = begins [ last ] + ( begins [ last ] [ 0 ] = = c ' \ ' ' )
1 |t if n > 64
1 |t return < uint 32 _t > rank if rank < WAITING - 1 else WAITING - 1
1 |t " " " sum + = x - old ; old was added before . " " "
-1 |t return any ( a . flag ( name ) for name in ( " sgd " , " adaptive " , " normalized " , " invariant " ) )
1 |t s . place = < uint 32 _t > size
1 |t - An example ' s keys become addresses in one loop . Room for all of them is made before it , so that
-1 |t " box " " no limit " ,
-1 |t self . write ( piece )
1 |t descend ( & self . visited , NULL , chunk . size , slope , eta , self . delta , self . shift )
-1 |t from vwlite . algorithms . pages import PAGES
-1 |t def _blocks ( self , stop Callable [ [ ] , bool ] ) - > Iterator [ Block ]
-1 |t for path in o . data
1 |t As in every batch , no value may be zero ; empty spans are left out .
-1 |t self . number int None = None
1 |t return { * * super ( ) . scalars ( ) , " unseen " self . unseen }
-1 |t slope = stepper . loss . derivative ( e . prediction , e . label ) * e . weight - self . _stable_slope ( e , keys , values )
1 |t while p < end
-1 |t self . g , self . d , self . h = ( np . zeros_like ( w ) for _ in range ( 3 ) )
1 |t if ( make_room ( < void * * > & self . steps , & self . steps_capacity , e . size , sizeof ( double ) )
-1 |t shown = loss = confidence = 0 . 0
-1 |t " Zero or negative curvature detected . \ n "
1 |t const int 64 _t begin = 0 x 3 fe 6 a 09 e 00000000 ; / * the bits of the least m * /
-1 |t self . _save_cut ( )
1 |t if self . classes and not ( 1 < = label < = self . classes and 0 < = p < = self . classes )
-1 |t " " " What follows an example . " " "
-1 |t Adaptive Polynomial Expansions , NIPS 2014 .
-1 |t def _of_lines ( a Arguments , s Setup , learner Layer ) - > Layer
-1 |t value = getattr ( Settings . of ( a . name ) , name )
-1 |t os . set_blocking ( self . _fd , True )
-1 |t " " " An option with a place in a group of the help , and spellings of Vowpal Wabbit that the help leaves out . " " "
1 |t self . push ( key )
-1 |t quadratic tuple [ str , . . . ] = ( )
1 |t cdef class Exponentiated ( Rule )
1 |t cdef inline double average_scale ( self ) noexcept nogil
1 |t return read_values_portable ( n , & head [ 0 ] , & more [ 0 ] , & length [ 0 ] , & value [ 0 ] ) ! = 0
-1 |t def __init__ ( self , base Layer , rounds int , kind str , gamma float , s Setup ) - > None
1 |t if labelled and self . classifier . probable
1 |t cdef int visit_chunk ( self , size_t begin , Example * chunk ) noexcept nogil
-1 |t from typing import Any
1 |t count [ byte ] + = 1
1 |t sum + = < double > s . w * part . x [ i ]
-1 |t " " " The same with its slots by rising number ; Vowpal Wabbit ' s ` - - sparse_weights ` leaves them as they come . " " "
1 |t cdef class PieceMaker
-1 |t return many . MultilabelOaa ( learner , a [ " multilabel_oaa " ] , s , a . flag ( " probabilities " ) , link ) # type ignore [ no - any - return ]
-1 |t help = " As - - cache , in this file . " ) ,
-1 |t def magnitudes ( self ) - > tuple [ float , float ]
1 |t next is parsed .
-1 |t # Examples of several lines are learned in any case , as Vowpal Wabbit does .
-1 |t return [ name . encode ( " utf - 8 " , " surrogateescape " ) for name in self . names or numbers ]
-1 |t from vwlite . model . snapshot import restore
1 |t cdef uint 32 _t model # whose sums the rule holds now
1 |t x ^ = x > > 27
-1 |t if fits_classes ( a , s , rule )
-1 |t num_children - uint changes nothing here
-1 |t slope = np . cumsum ( np . concatenate ( [ a * a , - a * a ] ) [ order ] )
1 |t self . keep ( < Slot * * > part . slots , part . size )
1 |t cdef size_t low = 0 , high = m . size - 1 , middle
-1 |t if data . startswith ( ( ZSTD , * ZSTD_SKIPPABLE ) )
1 |t packed labels are words in the tags ; what is not the name of a class , and perhaps a plain number , is not usual .
-1 |t def check ( self , label int ) - > int
1 |t is no number , or too large . " " "
1 |t return self . record
-1 |t with np . errstate ( all = " ignore " )
-1 |t s . output = " SCALARS "
1 |t " " " The next byte of that class ; LF is in all of them . " " "
1 |t return label ! = self . usual_low and label ! = self . usual_high
-1 |t for name , why in refused ( a ) . items ( )
-1 |t self . last = self . told # of the pass before
1 |t if self . add ( p , label , importance , loss , surprise )
-1 |t run , names = self . run , None
-1 |t info = _status ( source )
-1 |t _TABLE = " " "
-1 |t return CacheWriter ( path , self . _fingerprint ( ) )
-1 |t self . adax = s . arguments . flag ( " adax " )
1 |t " " " W ( exp ( x ) ) - x , W being Lambert ' s function , to 9 e - 5 one step of Halley ' s kind from a line . " " "
1 |t self . met [ i ] = True
1 |t uint 64 _t digits = vwlite_digits_of ( head [ i ] ) < < ( - 8 * ( uint 64 _t ) length [ i ] & 56 ) ;
-1 |t metavar = " FILE " , help = " Write predictions to this file , neither clipped nor linked . " ) ,
-1 |t def from_vw ( path str , data bytes ) - > Model
1 |t - A feature that has just become active waits outside of the queue until Theta is known , as most of them
1 |t " " " Ask the memory for the slots of an example that comes soon . " " "
-1 |t algorithm str = " gd "
1 |t self . waiting [ kept ] = < Slot * > s
-1 |t self . total_features + = features
-1 |t raise UsageError ( f " - - softmax has a loss of its own leave - - loss { settings . loss } out " )
-1 |t click . echo ( f " { index } { of_class } \ t { weight ! r } \ t { name } " )
1 |t super ( ) . load ( { " largest " scalars [ " inverses " ] , * * scalars } , slots ) # older models have no such number
1 |t cdef double h = 1 , norms = 0 , scale , step , bare
-1 |t def _round ( self , tournaments list [ list [ int ] ] ) - > list [ list [ int ] ]
-1 |t super ( ) . __init__ ( run )
-1 |t batch . append ( 0 , float ( " nan " ) , 1 . 0 , 0 . 0 , b " " , own + more )
1 |t odd + = w [ i + 1 ] * x [ i + 1 ]
1 |t key = ( < Head * > source ) . mark - 1
1 |t " " " - - nonzeros N a strength that is found while learning , for a model of at most N nonzero weights .
-1 |t def _section ( title str , * blocks list [ str ] ) - > list [ str ]
-1 |t for name in MANY [ 5 ]
1 |t if c . bound ! = WAITING and self . rank ( new ) < c . bound
-1 |t h = hashes [ start ]
1 |t name . end , name . rest = p , window & ( window - 1 )
-1 |t raise DataError ( f " { path } cannot be exported a weight or a label is too large for a float of Vowpal Wabbit " )
-1 |t text ( h . options )
-1 |t " - l 1 e - 3 - - radius 1 - - features 30 " ,
-1 |t rate = self . _get ( start + i + len ( self . fields ) )
-1 |t " G_i = sum of g_i , H_i = delta + sqrt ( sum of g_i ^ 2 ) \ nw_i < - - sign ( G_i ) ( eta_t t / H_i ) max ( G_i / t - l 1 , 0 ) " ,
1 |t for line in range ( self . a . lines )
-1 |t def command ( model str , as_json bool ) - > int
1 |t cdef const char * before = p # where the last word but one ends . . .
1 |t float * G
-1 |t total + = e . prediction * ( 1 . 0 if self . kind = = " BBM " else self . alpha [ i ] )
-1 |t committed . What is not a regular file ( a pipe , / dev / null , / dev / stdout ) is written directly , and once .
1 |t bad & = ~ absent ;
-1 |t if header [ " weights_only " ] and set ( header [ " rule " ] ) - { " unseen " }
-1 |t return os . path . samestat ( os . fstat ( lock ) , os . lstat ( self . _beside . lock ) )
1 |t cdef object basis , root # [ m , m ] , [ m ] eigenvectors and the roots of eigenvalues ; m < = n
-1 |t self . asked = f " { importance . 6 f } "
-1 |t rules = [ first , * ( make_rule ( a , s , loss ) [ 0 ] for _ in range ( k - 1 ) ) ]
-1 |t del example . spaces [ letter ]
1 |t # of Theta is in each of them , also in the zeros once they are lifted
1 |t return fabs ( ( < const Slot * > slot ) . z )
-1 |t f ' Invalid feature value " { rest } " read as NaN . Replacing with 0 . { self . _where ( ) } '
-1 |t [ _text ( name ) for name in _list ( content [ " classes " ] ) ] , list ( _entries ( content [ " batches " ] , place ) ) ,
-1 |t lines = [ f " { ' , ' . join ( names ) } { why } . " for why , names in found . items ( ) ]
1 |t return self . a . lines
1 |t bucket = & self . queue . buckets [ j ]
1 |t " " " The largest float that is at most u . " " "
-1 |t redefined [ ord ( c ) ] = name
1 |t " " " Put n features of the list into ` slots ` and their sums into x . " " "
1 |t self . push_low ( entry )
-1 |t def _tests ( self , group Group ) - > bool
1 |t cdef int room ( self , size_t n ) except - 1
-1 |t " " " Come back after the example at hand . Called from another thread . " " "
1 |t if square < TINY_SQUARE
-1 |t raise DataError ( f " { path } not a valid model the state is not that of { settings . algorithm } " )
-1 |t run . commit (
1 |t cdef double slope ( self , double p , double y ) noexcept nogil
-1 |t sums [ i + 1 ] + = sums [ i ] * x * x
1 |t # define VWLITE_HUGE ( ( size_t ) 1 < < 21 )
1 |t tag + = 1
1 |t " " " Blocks of text become batches .
1 |t self . n = size
-1 |t " " " A normal number by Box and Muller , from a state that is the seed . " " "
1 |t void vwlite_store ( int flag , int value ) noexcept nogil
1 |t cdef char * taken ( self , uint 32 _t mark ) noexcept nogil
-1 |t def finish_pass ( self , holdout float None ) - > None
1 |t char * * slots # owned , [ CHUNK ]
-1 |t def advance ( self , weight float ) - > float
-1 |t with suppress ( Stopped )
-1 |t return Parsed ( Batch ( ) , [ Bad ( block . source , block . line , 1 , block . message ) ] )
-1 |t def clear ( self ) - > None
1 |t batch . a . lines = i
-1 |t self . shares = self . classes is not None and ( run . learner . probabilities or run . learner . scores )
-1 |t " " " Report the lines that a cache leaves out there is no text to be read . " " "
-1 |t for e , cost in zip ( group . lines , costs , strict = True )
-1 |t s . holdout_weight + = weight
-1 |t from itertools import product
-1 |t e . prediction , e . loss , e . confidence = shown , loss , confidence
-1 |t d = " - - features , or the number of features seen so far " ,
-1 |t ( " ignore " , " ignoring namespaces beginning with " ) ,
-1 |t MOST_ROWS = 20 # of a confusion matrix that is printed
1 |t h ^ = ( h ^ mix ( h , < uint 32 _t > word ) ) & ( 0 - full )
1 |t size = self . change ( < uint 32 _t > at [ i ] , by [ i ] * self . to_unit )
1 |t cdef const char * reached = NULL
1 |t cdef size_t n = batch . a . features , first = n , limit = batch . feature_capacity
-1 |t help = " l 1 - ball , adagrad - ball the largest sum of weights ; simplex , eg , eg - pm their sum . [ required ] " ) ,
-1 |t def _read_ahead ( self ) - > Iterator [ tuple [ Batch , int ] ]
1 |t / * Whether begins run from 0 to ` last ` without falling . * /
1 |t sum = sum * z + 1 / 13 . 0 ;
1 |t def __init__ ( self , double tau = 0 . 5 )
1 |t VWLITE_CLONES static void vwlite_hash_names ( size_t n , const uint 64 _t * head , const uint 64 _t * more ,
-1 |t " " " A file of predictions . " " "
-1 |t w = np . zeros ( len ( self . keys ) , np . float 32 )
1 |t raise ValueError ( f " { p } for { label } with { self . classes } classes " )
1 |t elif s . bound = = INFINITY and s . u ! = 0
-1 |t " " " Sparse online linear learning from text streams . " " "
1 |t return b " a feature has a number that is none "
-1 |t from vwlite . vw . text . csv import CsvParser
1 |t found = max ( found , numbers [ i ] )
-1 |t ignore_linear = settings . ignore_linear . encode ( " latin - 1 " ) ,
-1 |t module = importlib . import_module ( f " vwlite . commands . { cmd_name } " )
1 |t size_t mark_delimiters " vwlite_find_marks " ( const char * base , const char * begin , const char * end , uint 32 _t * marks ,
-1 |t return Model ( h , state , width , copied ( words [ step ] ) , woven ( columns ) )
1 |t ( < Seen * > d . slots [ i ] ) . place = 0
-1 |t elif a . flag ( " confidence " )
1 |t numbers - = 1
-1 |t if e . test or not self . labels . known ( e )
-1 |t best - = 1 # as Vowpal Wabbit counts it the shared line is the first one
-1 |t from typing import IO , TYPE_CHECKING , Any
-1 |t def _learner ( self ) - > Learner
1 |t cdef bytes spelled
-1 |t def tagged ( text str , e Current ) - > str
-1 |t def ratio ( a float , b float ) - > float
-1 |t e . show ( )
-1 |t self . text . number + = len ( batch )
1 |t return trouble_at ( trouble , OUT_OF_MEMORY , p , p )
-1 |t if not run . stopped
-1 |t s . owed = gravity
1 |t A feature that stands twice in an example , or two that share a key , are one coordinate whose value is the sum . A rule
-1 |t example_number int = 0
-1 |t undone = merge_options ( a , head [ 0 ] )
-1 |t self . _substitute ( e )
1 |t if shift - at > = size
1 |t VWLITE_ADAGRAD_STEP ( vwlite_adagrad_step_by_sums , double )
1 |t " " " w < - the projection of w + sum_j values [ j ] e_indices [ j ] onto the ball .
-1 |t ( options . raw_predictions , learner . raw_predictions ) ,
1 |t self . forget_names ( self . named )
-1 |t def _read ( self , entry Entry , buffer bytearray ) - > Batch
1 |t return ( < Rule > rule ) . idle ( slot )
1 |t " " " One against all as Vowpal Wabbit has it K linear models whose keys interleave .
-1 |t rule . elapsed = statistics . t
-1 |t " " " Keys in model 0 and values of the features of each namespace . " " "
-1 |t if isinstance ( value , bool )
-1 |t if self . _in_order
1 |t free ( self . a . hash )
1 |t return self . by_columns ( p , end , offset , skip , batch )
-1 |t for i , w in enumerate ( weights )
1 |t " " " The weights now , of slots as ` slots ( ) ` gives them . " " "
-1 |t def finish ( self , signal int None ) - > None
1 |t A batch is used again for the next block ` clear ` forgets the content and keeps the memory , so
1 |t classes labels and predictions are the numbers of classes , from 1 to this . 0 they are just numbers .
-1 |t space = self . example . space ( SPELLING )
-1 |t self . streams . warn ( " update is NAN , replacing with 0 " )
-1 |t ( " threshold " , " truncated - gradient " ) " Larger weights are not shrunk . " ,
1 |t text [ i ] = bad ;
-1 |t if name = = " header "
1 |t self . heaviest = base + LARGEST * unit if unit > 0 else INFINITY
-1 |t self . l 2 = l 2
-1 |t " " " Whether a file may lie there the lock , or a temporary file of this job or of one that was killed . " " "
1 |t cdef inline double derived ( self , const Slot * s ) noexcept nogil
1 |t cdef double * grown
1 |t cdef class Classifier ( Rule )
-1 |t " " " Output files that are there whole or not at all .
-1 |t out + = [ f " { name } { _table ( * * value ) } " for name , value in lines . items ( ) if isinstance ( value , dict ) ]
-1 |t w = np . array ( [ stepper . weight ( key ) for key in keys ] , np . float 32 )
-1 |t " " " Whole lines of one source ; the last line of a source may lack its newline . " " "
-1 |t def say ( text str = " " ) - > None
1 |t self . names = names
-1 |t " " " Predict each example of DATA with a model .
1 |t static inline uint 32 _t vwlite_delimiters 16 ( const char * p , char other ) {
-1 |t if place = = 0
1 |t batch . a . label [ i ] , batch . a . importance [ i ] , batch . a . initial [ i ] = NAN , 1 . 0 , 0 . 0
-1 |t " gd " Page (
1 |t cdef size_t n = end - q
1 |t g [ ( < Slot * > < size_t > key ) . place - 1 ] = x
1 |t cdef size_t before = words_end - words if words_end > words else 0 , size
-1 |t return 0 . 0 , float ( value )
1 |t " " " The distinct hashes if they are numbered , else nothing . " " "
1 |t powers ( & x [ 0 ] , exponent , & out [ 0 ] , x . shape [ 0 ] )
-1 |t source and hands it on ; the consumer puts it back . An exception is raised in the consumer , in its place in
1 |t uint 32 _t odd [ MOST_FEATURES ] # features with names for which the columns are too narrow
1 |t v = - v
1 |t cdef double sum = 0 , inverses = 0
1 |t uint 32 _t value_length [ MOST_FEATURES ] # 0 the feature has no value , and counts 1
1 |t self . visit ( & chunk )
1 |t if s . since = = WAITING
1 |t s = ( < Slot * * > e . slots ) [ i ]
1 |t cdef size_t at = 0
1 |t if missing = = 0
-1 |t def next_regularizer ( self ) - > tuple [ " array [ int ] " , " array [ float ] " ]
1 |t below 2 ^ 53 divided by 1 or 10 ^ 8 , which IEEE division rounds correctly .
-1 |t field_of ( self . rule , out , " mark " ) [ ] = shifted ( keys , 1 )
-1 |t if self . shown
-1 |t if second is None
1 |t cdef int shift = 0 if self . classes is None else self . shift
1 |t cdef void use ( self , double strength ) noexcept nogil
1 |t rule . finished = self . finished
-1 |t cache str None = None
1 |t def project_general ( const double [ 1 ] v , double z , weights , double b , double to_unit , double a_to_unit , double [ 1 ] out )
-1 |t words = [ parts . get ( " Label " ) , parts . get ( " Weight " ) , parts . get ( " Initial " ) ]
-1 |t loaded = read_model ( model )
1 |t cdef size_t i , changed
-1 |t def display_name ( source str ) - > str
-1 |t if " . " in head
-1 |t rule dict [ str , Any ] = model . rule
-1 |t counts = weights > 0
-1 |t _close ( lock )
-1 |t def uniform_weights ( slots int , random Random ) - > " array [ float ] "
-1 |t raise Refused ( f " - - replay_b with - - { name } " )
1 |t self . add ( m , block )
1 |t raise ValueError ( " a slot begins with its mark , and the blank one has the same size " )
-1 |t if time . monotonic ( ) > = self . _checkpoint_time and self . _seconds
1 |t size_t constant_at # the place of the constant ; no place of the example , if it has none
-1 |t unmet = namespaces . unmet_groups ( )
-1 |t columns = header [ " options " ] . get ( " oaa " ) or 1
1 |t return < double > d . mantissa * POWERS [ d . power ]
1 |t weigh ( v , chunk . size , self . shift )
1 |t if at [ 0 ] = = c ' . ' and not point
-1 |t raise UsageError ( f " - - link { o . link } is for one score , but { o . model } has one for each class use - - probabilities " )
-1 |t _option ( " - - feature - weights " , " feature_weights " , group = _LEARN , type = PATH , metavar = " FILE " ,
1 |t char * tags # [ tag_bytes ] all tags , one after the other
-1 |t self . bad . take ( parsed . bad )
1 |t if strength > 0
1 |t self . f . capacity = want
-1 |t atom , x = atoms [ at ]
1 |t cdef inline void forget_names ( self , uint 32 _t count ) noexcept nogil
-1 |t _FILE , 167 ,
-1 |t return " keys are not a row of uint 32 "
1 |t while begin < self . gathering . size and not self . out_of_memory and not self . visit_chunk ( begin , & chunk )
-1 |t parts . append ( f " { ' below ' if self . open_high else ' at most ' } { self . high g } " )
1 |t self . count_squares ( )
-1 |t lines = [ f " boosts { self . width } \ n " ] if kept else [ ]
-1 |t " " " The labels of the classes , as text has them . " " "
1 |t cdef size_t i = batch . a . lines
-1 |t learner . answers_blank_lines = True # whoever waits for an answer to each line gets one
-1 |t A signal that is ignored when the program starts ( nohup ) stays ignored . At the end everything is as it was .
-1 |t curved = a . flag ( " hessian_on " ) or memory = = 0
-1 |t def _one ( what str ) - > str
-1 |t # The first line counts for a shared one , whose cost Vowpal Wabbit takes for the least .
-1 |t from vwlite . model . slots import CODES , Array , array_of , copied , field_of
1 |t np = None
1 |t cdef size_t at
1 |t double * w
1 |t cdef Expansion found
1 |t if z = = 1 or z = = 0
-1 |t from vwlite . vw . layers . baseline import Baseline
1 |t found = __builtin_popcountll ( bits ) ;
-1 |t for path in sorted ( HERE . rglob ( " * . pyx " ) )
1 |t if s ! = NULL
-1 |t main ( )
1 |t cdef size_t i , heavy = 0
-1 |t if s . bits > 32
1 |t if self . confusion ! = NULL and p > 0
1 |t probable the log loss is wanted . raw the clipped scores take the place of probabilities .
1 |t CHUNK = 1 < < 14 # features that are learned at a time
1 |t return min ( max ( ( fixed + linear - z ) / slope , low ) , high )
1 |t raise ValueError ( f " an interaction has 2 to { MOST_TERMS } letters " )
-1 |t return ( self . stepper . widens and narrow ) or bool ( self . run . labels . names and self . run . setup . indexing . first = = 0 )
-1 |t if not name or re . search ( r " [ \ s ] " , name )
1 |t self . loss = rule . loss
-1 |t ( " period " , " threshold " ) ,
1 |t uint 32 _t at # a number of the last example that had the feature , or its last place there
-1 |t self . held_log_loss + = surprise
1 |t hash , value = batch . a . hash , batch . a . value
1 |t return self . _view ( self . a . feature_begin , self . a . spans + 1 if self . a . spans else 0 , 4 , " I " )
1 |t cdef public size_t age # gradients since the root was made
-1 |t if type ( layer ) is not Linear or type ( layer . stepper . rule ) not in ( ( Interleaved , ) if classes else RULES )
-1 |t from collections . abc import Iterator
-1 |t # Names of files that this process has open . They are used as they are opened again by name they would
-1 |t words + = [ f " - - interactions { pattern } " for pattern in s . interactions ]
1 |t arrays [ 2 ] = a . initial
1 |t cdef double LARGEST_SUM = 16 # of u , in radii ; beyond , u - Theta would lose digits
1 |t cdef public double unseen # the weight of each feature that was never touched
1 |t cdef double LARGEST = < double > ( < int 64 _t > 1 < < 45 ) # of u in z
1 |t return self . mean ( < const AveragedSlot * > slot )
1 |t while ( slope ! = 0 or e . pieces = = NULL ) and next_piece ( & part )
1 |t self . span = self . a . span_begin [ self . line ]
-1 |t _cross ( names , term , depth + 1 , i if same else 0 , name , out , permutations )
-1 |t parse = parse_options ( options , settings , make_names ( settings ) if settings . oaa else None )
-1 |t f " libsvm ( label index value . . . ) ; - - format says which { _shown ( line ) } "
-1 |t weight , vote = 1 . 0 , found
1 |t " " " The derivative dl / dp ; at a kink , one of the subgradients . " " "
-1 |t does not know its loss , and so neither does the model .
-1 |t " " " A setting as it stood on the command line . " " "
-1 |t from vwlite . core . rules . smidas import Smidas
-1 |t from vwlite . vw . messages import VERSION , Critical , short
1 |t given = & a [ 0 ]
-1 |t replay_m - ulong keep the same , below - - oaa
-1 |t self . streams . warn ( f " Multiplicative - - progress < float > ' { value } ' is < = 1 . 0 adding 1 . 0 " )
-1 |t if not own and not space . hashes
-1 |t self . passes = 1
-1 |t constant = a . get ( " constant " , 0 . 0 ) if isinstance ( rule , Gd ) else 0 . 0 # others do not know it
1 |t self . table . idle = NULL
-1 |t def command ( model str , top int None , everything bool , names tuple [ str , . . . ] ) - > int
1 |t sum + = < double > self . sums [ ( self . top - i ) & ( WINDOW - 1 ) ] * power_of_block [ i ]
1 |t self . top = - < int 64 _t > LAST - 1
1 |t from vwlite . core . base . elementary cimport exp_of , exponentials
1 |t cdef size_t gather ( const double * v , size_t n , bint signed , double top , double t , double * out , double * total ) noexcept nogil
-1 |t for i , e in enumerate ( group . lines )
1 |t heap [ i ] = last
1 |t trouble_at ( trouble , LABEL_LARGE , p , end )
1 |t return p ;
-1 |t return f " { size > > 20 } MiB " if size > > 20 else f " { size } bytes "
1 |t if fabs ( s . z ) < = self . shift
1 |t arrays [ 9 ] = a . kind
-1 |t more memory than it has bytes there . " " "
-1 |t if len ( text ) < 3 or not text [ 2 ] . isdigit ( )
-1 |t - is standard input , which must be data . A label is valid if ` vwlite train ` takes it with the same
1 |t " " " Everything but the weights anew , from slots that are settled . " " "
1 |t self . change_weighted ( slots [ i ] , step * x [ i ] )
-1 |t ( " features " , " smidas " ) " those seen so far " ,
-1 |t " format " self . format ,
1 |t self . waiting = kept
-1 |t from vwlite . options . resolve import Resolved , as_options , check_runs , resolve
1 |t cdef const char * end
1 |t return y * fmin ( fmax ( - ( lambert_of_exp ( eta * h + yp + ( 1 / steep - 1 ) ) + yp ) / h , 0 ) , plain )
1 |t a_j = ( u_j - Theta_ 0 ) / L , the sums M_k of a_j ^ ( p - k ) over the heavy ones are kept , and
-1 |t def damaged ( path str , why str ) - > Critical
1 |t for i in range ( self . waiting . size )
1 |t uint 32 _t hash
1 |t cdef Batch batch = Batch ( )
-1 |t What is minimised is sum_i c_i l ( < w , x_i > + b_i , y_i ) + sum_j r_j ( w_j - u_j ) ^ 2 / 2 , c_i being the importance of an
1 |t NO_MEMORY = 5
-1 |t if len ( e . words ) = = 2
1 |t if self . make_levels ( self . level_size + 1 )
-1 |t return None , 0
1 |t const uint 32 _t * length , const uint 32 _t * seed , uint 32 _t * hash ) {
1 |t " " " ` parse ` without Python ; - 1 when memory is out . " " "
-1 |t " " " ValueError if it is none ; 1 _ 000 is none , though Python takes it . " " "
1 |t const uint 32 _t * length , float * value ) {
1 |t ( < Slot * > last_slot ( e ) ) . u + = step
1 |t z [ i ] + = g - ( root [ i ] - before ) * inverse_alpha * w [ i ] ; \ \
-1 |t def __init__ ( self , target Path ) - > None
1 |t " " " Arrays that grow by doubling . " " "
1 |t sum = ( < Slot * > last_slot ( e ) ) . u
1 |t add ( & sum , fabs ( s . z ) * s . inverse )
1 |t slots , x = < Slot * * > self . found . slots , self . found . x
-1 |t " cs_absolute_loss " ( " csoaa " , ) , " csoaa_rank " ( " csoaa_ldf " , ) , " decay " ( " marginal " , ) , " direct " ( " active " , ) ,
1 |t d = read_double ( p )
1 |t return self . now [ place - 1 ] if place else 0
-1 |t " " " Have the stepper hold the features of an example . " " "
1 |t self . outcomes = < Outcome * > calloc ( n , sizeof ( Outcome ) )
-1 |t " " " What can go wrong , as exceptions with an exit code each .
-1 |t state dict [ str , float ] None = None
1 |t w = self . weight ( c )
-1 |t def feature_hash ( name bytes , namespace bytes , hash_all bool = False , seed int = 0 ) - > int
1 |t while is_digit ( p [ 0 ] )
1 |t cdef int shift , less # a key is ( ( hash < < shift ) + model & mask ) > > less , if it is not the hash
1 |t uint 32 _t * distinct_hash # [ distinct ]
-1 |t for key , h , off in zip ( self . keys [ k ] , hidden , dropped , strict = True )
1 |t # define VWLITE_P 1 0 x 9 E 3779 B 185 EBCA 87 ULL
-1 |t if scores is None
1 |t self . correct + = importance * ( ( p > 0 ) = = ( label > 0 ) )
-1 |t " truncated - gradient " AveragedTruncatedGradient ,
1 |t return f . value if f . end = = p + len ( token ) else None
-1 |t self . saved = True
-1 |t if self . kind = = " adaptive "
-1 |t learning_rate l float keep the learning rate
1 |t # define VWLITE_EXACT_MANTISSA ( ( uint 64 _t ) 1 < < 53 )
-1 |t raise DataError ( f " { path } a model of Vowpal Wabbit with - - ngram ` vwlite vw - i ` takes it " )
-1 |t def format_options ( self , ctx click . Context , formatter click . HelpFormatter ) - > None
1 |t Classes count from 1 . With names that are learned as they appear , ` named ` of them have one so far . The class with the
1 |t cdef readonly double correct # importance of those with the right sign
1 |t int 64 _t bits ;
-1 |t with ExitStack ( ) as inner
-1 |t weights = array_of ( weights . tobytes ( ) , " d " ) ,
1 |t if 0 < s . a < smallest
-1 |t def _described ( a " Algorithm " , name str ) - > str
-1 |t raise Critical ( f " Malformed namespace value pair at cell { i } { pair } " , " parse_example_csv . cc " , 169 )
-1 |t pairs = [ f " { group . lines [ i ] . target [ 0 ] [ 0 ] } { _decimals ( group . scores [ i ] ) } " for i in group . ranked ]
-1 |t " " " Go through the examples of a batch . " " "
-1 |t " K = - - period , theta = - - threshold " ,
-1 |t shift = max ( 0 , ( models - 1 ) . bit_length ( ) )
-1 |t " Duchi , Hazan , Singer 2011 , eq . 5 " ,
1 |t power [ i ] = positive_part ( fabs ( slots [ i ] . u ) - shift ) * scale
-1 |t check_apart ( outputs , inputs , ( " - - final_regressor " , continued ) )
-1 |t raise Refused ( f " - - { name } with - - ftrl " , " its weights follow from sums , so they cannot begin at random " )
1 |t q + = 1
-1 |t lines = f . read ( ) . splitlines ( )
-1 |t self . audit Callable [ [ Current ] , None ] None = None
1 |t self . raw = self . predicted ( rule , & e , False )
1 |t " " " The lines of an example the name of the class or all probabilities ; all scores . - 1 no memory . " " "
-1 |t names = self . namer . found if name = = " invert_hash " else None
1 |t s = list [ i ]
-1 |t " parse_example_csv . cc " , 250 ,
-1 |t OPTIONS = _read_table ( )
-1 |t if not dropped ( letter )
1 |t cdef void rewind ( self ) noexcept nogil
-1 |t " " " Options of classes that contradict each other , or the algorithm . " " "
1 |t self . faults [ self . fault_count ] = fault [ 0 ]
-1 |t def _source_fingerprint ( source str ) - > dict [ str , Any ]
-1 |t _close ( self . _fd )
-1 |t self . _closing = False
1 |t cdef Sum S = self . S , R = self . R
-1 |t mantissa , _ , exponent = digits . lower ( ) . partition ( b " e " )
-1 |t " output_feature_regularizer_binary " ( " bfgs " , " conjugate_gradient " ) ,
-1 |t slots , columns = Layout ( rule , s . fields ) . columns ( )
1 |t if likely ( is_easy ( & d ) )
1 |t - The list is not summed in every step either . Of a moment when Theta was Theta_ 0 and the largest theta was L , with
1 |t size + = 1
-1 |t slots = 1 < < s . bits
1 |t self . outcomes [ k ] . slope = part
1 |t if batch . reserve ( 0 , 0 , 0 , before + 1 + size )
-1 |t fields tuple [ str , . . . ] = ( " w " , )
-1 |t if " csoaa_ldf " in a or " wap_ldf " in a
1 |t s = < WeightedSlot * > ( self . table . slots + i * self . table . stride )
1 |t return soft_threshold ( v , a ) if fabs ( v ) < = theta else v
-1 |t _option ( " - - average " , group = _LEARN , is_flag = True , default = None ,
1 |t value + = ( 1 - z ) * Logistic . judge ( self , p , - 1 , slope )
1 |t " " " The class with the largest score , 0 if none has a name . " " "
-1 |t self . weights , self . name = weights , f " classweight - { kind } "
1 |t square , size = < double > x * x , fabsf ( x )
1 |t cdef size_t n , first , limit
-1 |t " goes on from the last ones . " ) ,
1 |t cdef uint 64 _t word
1 |t if self . settings . stop
1 |t bint repeated # some feature occurs twice
1 |t self . small = self . scale * SMALL
1 |t " " " ` vw_line ` for the lines that most text is made of , which leaves its features to the columns .
-1 |t s . total_features + = group . features
-1 |t self . _taken = 0 # items that came from the source
1 |t cdef char * slots = table . slots
-1 |t if not settings . loss and learner . progressive . weight
-1 |t if label is None
-1 |t Types come first , then what ` vwlite train ` would not take , alone or together a model that passes can have been trained .
-1 |t # What comes before it is put where there is room for it , before the rest .
1 |t s . slot . z = 0
-1 |t for name in sorted ( a . values )
-1 |t CROSSING = ( " quadratic " , " cubic " , " interactions " )
-1 |t ( " power_t " , " gd " ) " The rate of a feature falls as the sum of its squared gradients to the power - power - t . " ,
1 |t " " " The weight with every missed step taken . " " "
1 |t rho + = greater + ties
-1 |t return f . hash ( value , f . hash ( key , seed ) ) , 1 . 0 , prefix + key + b " ^ " + value
1 |t if lifted > 0 and shift < self . shift # by may be too small to tell
-1 |t example . words . append ( b " 0 " if len ( example . words ) = = 2 else b " 1 " )
1 |t if self . write_all ( self . raw_predictions , self . classifier . scores )
-1 |t " smidas " Page (
1 |t " " " Bring the state in line with a new strength . " " "
-1 |t example_queue_limit - long examples that wait between the threads
-1 |t return place if self . first = = 0 else place + 1
1 |t size_t offset # added to every slot
1 |t return trouble_at ( trouble , IMPORTANCE_NEGATIVE , begins [ 1 ] , ends [ 1 ] )
1 |t before . spans , before . tag_bytes , odd = batch . a . spans , batch . a . tag_bytes , c . odd_count
-1 |t restore ( a , s , stepper , s . model )
1 |t if s . since = = 0 or s . mark = = self . constant
1 |t s = self . capped [ first ] . slot
1 |t free ( self . a . initial )
1 |t x = size_of ( v [ i + j ] , signed )
1 |t # define vwlite_delimiters vwlite_delimiters_portable
-1 |t def _ask ( self , e Current ) - > None
-1 |t " " " What the summary and the report say , by name . " " "
-1 |t ) - > Model
-1 |t e . partial = self . stepper . raw
-1 |t floats . extend ( to_float ( w ) for w in model . weights )
1 |t for i in range ( 0 , n - n % 4 , 4 )
-1 |t return kind (
-1 |t floats " array [ float ] "
-1 |t features int None = None
1 |t cdef double up , down
1 |t cdef object error # what the handler of a signal raised
-1 |t " ftrl " Ftrl ,
1 |t cdef inline void take_out ( self , Slot * s ) noexcept nogil
-1 |t if begin . startswith ( ( b " \ x 1 f \ x 8 b " , b " BZh " , b " \ xfd 7 zXZ \ 0 " , b " \ x 28 \ xb 5 \ x 2 f \ xfd " ) )
-1 |t self . setup , self . pairs , self . dropout = s , pairs , dropout
1 |t if n = = self . a . features
-1 |t self . weighted_unlabeled_examples + = weight
-1 |t for i , ( h , off , value ) in enumerate ( zip ( hidden , dropped , sigmas , strict = True ) )
-1 |t if not self . by_turns
1 |t fault . line_begin , fault . line_end = offset + ( p - base ) , offset + ( next - base )
-1 |t whole . extend ( batch , begin , len ( batch ) )
-1 |t self . log_loss = self . held_log_loss = 0 . 0
-1 |t def _write ( self , warns bool = False ) - > None
1 |t cdef public double weight_sum # W sum of importance
-1 |t " " " ` N = S ` the namespaces S become N ; ` ` stands for all , nothing for the default one . " " "
-1 |t " " " A training run passes over the stream , holdout , progress , checkpoints , the model at the end . " " "
1 |t free ( self . a . letter )
1 |t cdef float * size = visits . size
-1 |t os . _exit ( 128 + number )
-1 |t ahead + = 1 if vote = = kept else - 1
1 |t if self . numbered
1 |t " " " Goes through the features of one line of a batch at a time .
1 |t def __init__ ( self , loss , * , double l 1 = 0 , double l 2 = 0 , double initial_t = 0 , bint adaptive = True , bint normalized = True ,
-1 |t " " " What a weight predicts by itself ; the bottom stays with it , for learning . " " "
1 |t self . used + = 1
-1 |t return " , " . join ( _shown ( v ) for v in value ) or " none "
-1 |t f " CSV line { self . number } has { len ( cells ) } elements , but the header has { len ( self . columns ) } elements ! " ,
-1 |t b " dictionary ^ " + ( shown + b " _ " if shown else b " " ) + name + b " = % d " % h for h in entry . hashes
1 |t uint 32 _t * span_begin # [ lines + 1 ] into letter , feature_begin
-1 |t classes str = " " # names with commas between them ; auto those that appear ; " " the numbers from 1
-1 |t self . _left = False # a temporary file that could not be removed the lock stays , so that the next job looks
-1 |t data = b " " . join ( bytes ( block . data ) for block in read_blocks ( [ place ] ) if hasattr ( block , " data " ) )
1 |t if self . writes and self . predictions . line ( linked ( shown , self . link ) , tag , tag_size )
1 |t self . batch , self . size = batch , self . maker . size
-1 |t return name . decode ( " utf - 8 " , " surrogateescape " ) + " "
1 |t cdef bint stays
-1 |t shaped . append (
-1 |t w < - w - eta ( ( l ' ( w ) - l ' ( v ) ) x + mean of the gradients at v ) .
1 |t self . sizes [ equal ] = 4294967296 . 0 - < uint 32 _t > ( ( < Head * > slot ) . mark - 1 )
1 |t self . columns = < Columns * > malloc ( sizeof ( Columns ) )
-1 |t first = max ( map ( len , names ) , default = 0 )
-1 |t if code = = " label outside domain "
1 |t if self . reserve ( 0 , 1 , len ( hashes ) , 0 )
-1 |t " cb_min_cost cb_sample cb_to_cbadf cb_type cbify cbify_cs cbify_ldf cbify_reg cbzo ccb_explore_adf "
-1 |t if kind = = " gzip "
-1 |t step = _CHUNK / / data . itemsize
1 |t " " " tau = l / ( x ^ 2 + 1 / ( 2 h C ) ) " " "
-1 |t boosting - int keep online boosting of so many weak learners
1 |t numbers = count
-1 |t return data [ 0 ]
-1 |t if getattr ( settings , name )
-1 |t for digit in name
-1 |t bad list [ Bad ] = field ( default_factory = list )
-1 |t LABELS dict [ str , Any ] = {
1 |t free ( self . scores )
1 |t return bits ^ ( ( < uint 32 _t > 0 - ( bits > > 31 ) ) ( < uint 32 _t > 1 < < 31 ) )
1 |t self . sums [ WINDOW - 1 ] + = < int 128 > n < < ( 52 + WIDTH )
-1 |t keep = settings . keep . encode ( " latin - 1 " ) ,
-1 |t header , source = load_model ( a [ " feature_mask " ] )
-1 |t both = np . stack ( [ weights . r + self . written * more , weights . w ] , axis = 1 ) . astype ( np . float 32 )
1 |t rules of one kind . Each of them has a table that is a view of its record of every slot .
1 |t add_up ( e . slots , e . x , e . size , self . visited . x )
-1 |t def _is_cache ( path str ) - > bool
-1 |t self . live . update ( self . learner . examples , done , total )
-1 |t def repeat ( self , counts dict [ str , float ] , loss float , holdout_loss float ) - > None
-1 |t self . _best_model . begin ( )
-1 |t arow_r float = 1 . 0
-1 |t self . cached_now = self . reader is not None
-1 |t " " " Options that match nothing in the data . " " "
-1 |t def __init__ ( self , base Layer , k int , s Setup , indexing int None ) - > None
1 |t uint 32 _t length [ MOST_FEATURES ] # of the name , at least 1
1 |t LOGISTIC = 1
1 |t self . constant = 1 < < 32 if constant is None else ( constant + 1 ) & 0 xFFFFFFFF
1 |t uint 32 _t rest # the delimiters of its window that come after its end
-1 |t from vwlite . vw . engine import Quick , is_plain
-1 |t return info . st_dev , info . st_ino
-1 |t if self . writes_regularizer
-1 |t linear = run . setup . not_linear
-1 |t if " nonzeros " in options and " radius " in ALGORITHMS [ settings . algorithm ] . required
-1 |t run = Run ( a , streams )
-1 |t average = _ratio ( self . holdout_loss , self . holdout_weight , " unknown " )
-1 |t partial + = e . prediction * self . alpha [ i ]
1 |t cdef float * all = < float * > realloc ( self . visits . size , 5 * capacity * sizeof ( float ) )
1 |t bint ( * next ) ( Pieces * pieces , Example * part ) noexcept nogil
-1 |t self . run . lines = learner . lines
-1 |t self . text = TextParser ( self . features , self . streams , self . strict )
-1 |t self . place = f " { file } { line } "
-1 |t def _average ( self , total float ) - > float
-1 |t project_general ( vector , z , a , b , 1 / unit , 1 / a_unit , out )
1 |t cdef bint down
-1 |t first = [ key for key , _ in one ]
1 |t cdef void view ( self , Table owner , size_t offset )
1 |t expansion = self . expander . expand ( & batch . a , line , 0 , False )
-1 |t " " " Fig . 1 . Numbers are less the largest one , so that no digits of z are lost . " " "
1 |t slots copies of the features ' slots , one after the other .
1 |t free ( self . levels )
-1 |t " glf 1 " lambda p 2 / ( 1 + _exp ( - p ) ) - 1 ,
-1 |t if e . prediction > self . limit
-1 |t if not any ( a . flag ( name ) for name in flags )
1 |t " " " Where the value at p ends . ` rest ` the delimiters in the window that come after p . " " "
1 |t n , bytes = self . expander . part . size , 2 * self . table . capacity * self . table . stride
1 |t cdef size_t scratch_capacity , sizes_capacity
1 |t elif p [ 0 ] = = c ' ' or p [ 0 ] = = c ' \ t '
-1 |t self . _shown = [ o for o in self . opts if o not in vw ]
-1 |t self . _best_model = stack . enter_context ( self . file . draft ( ) )
1 |t arrays [ 5 ] = a . feature_begin
1 |t SCALARS = [ " t " , " unseen " ]
1 |t if g . size < place
-1 |t " " " The decompressed bytes of one source , in pieces ; an empty piece says that the input pauses .
-1 |t " " " Input that is not lines a line without end , a compressed stream or a file that ends early . " " "
-1 |t " AdaGrad with the full matrix , for at most 4 , 096 features descent ( cmd ) or averaging ( rda ) " ,
1 |t shift - = 1
-1 |t indexing Any = None # of classes
-1 |t self . settings = settings
-1 |t # Which lines are held out all after so many , or every so many ; 0 none for that .
1 |t cdef class Logistic ( Loss )
1 |t self . data [ self . size ] = 32
1 |t cdef inline int gather ( Gathering * g , const Example * e ) noexcept nogil
1 |t from vwlite . core . rules . adagrad cimport Adaptive , Visit , descend
-1 |t " nonzeros " " no limit " ,
-1 |t if x = = 0
-1 |t OLDEST Version = ( 7 , 6 , 0 ) # that are read ; before 7 . 8 . 1 with the rank of a matrix factorization in the head
-1 |t raise ValueError ( f " the largest weight is more than { WIDEST g } times the smallest " )
-1 |t return self . setup . loss_words if shown else None
1 |t at + = - at % size + size
1 |t SCALARS = [ " t " , " gravity " ]
1 |t self . waiting . entries [ kept ] = self . waiting . entries [ i ]
1 |t for i in range ( c . size )
-1 |t " stage_size " ( " svrg " , ) , " termination " ( " bfgs " , ) , " unweighted_marginals " ( " marginal " , ) ,
1 |t memcpy ( & f , & bits , 4 )
1 |t cdef size_t i , end
-1 |t surprise = - log ( p ) * e . weight if p > 0 else 999 . 0
-1 |t self . _reading = threading . Lock ( ) # one thread at a time asks the source
-1 |t out = np . empty ( len ( vector ) )
1 |t self . classes = classes
-1 |t e . initial = initial
1 |t last = blocks = = 0 ? a blocks = = 1 ? b blocks = = 2 ? c d ;
-1 |t read = { _identity ( path , 0 ) what for path , what in inputs }
-1 |t from vwlite . vw . messages import Critical , Refused
1 |t if most = = 0
-1 |t " " " Look at a label ; the one that counts instead if it is out of range . " " "
-1 |t lock = os . open ( path , os . O_RDWR os . O_CREAT os . O_EXCL flags , 0 o 644 )
-1 |t " lrqfa " , " marginal " , " named_labels " , " replay_b " , " stage_poly " ,
-1 |t ( " pa_c " , ) ,
-1 |t average float None
1 |t out [ i ] = self . weight ( < const char * > & slots [ i * stride ] )
-1 |t os . close ( opened )
-1 |t def _read ( self ) - > bytes
-1 |t TG = " J . Langford , L . Li , T . Zhang . Sparse Online Learning via Truncated Gradient . JMLR 10 , 2009 "
1 |t # of the last ` predict ` or ` learn `
-1 |t index & = ( 1 < < model . settings . bits ) - 1
-1 |t self . streams . info (
1 |t grown = realloc ( self . gathered_value , 2 * n * sizeof ( float ) )
-1 |t " w < - argmin sum of H_i ( w_i - v_i ) ^ 2 over w _ 1 < = radius , which is \ n "
-1 |t stepper = bottom . stepper
-1 |t " " " The measures of predictions that the summary and the report hold . " " "
1 |t s , x = < Slot * > part . slots [ i ] , part . x [ i ]
-1 |t def about_labels ( settings Settings , learner Learner , * , loss_typed bool ) - > Notes
1 |t return self . rules [ 0 ] . elapsed
1 |t self . f . numbers = a . number + a . feature_begin [ first ]
1 |t k = ( k < < 15 ) ( k > > 17 ) ;
1 |t self . clean_if_stale ( )
1 |t # 10 ln 2 in two parts whole multiples of the first , which has 32 bits , are exact .
-1 |t def __len__ ( self ) - > int
-1 |t self . _held = bytes ( data )
-1 |t for value in a . get ( " redefine " , [ ] )
-1 |t os . unlink ( self . _temporary )
-1 |t " O ( k ) at a constant rate ( - - power - t 0 ) . Else , for a weight that has come to zero , a step for every example "
-1 |t self . increment = 1
1 |t largest score among these is predicted , the first of several ; the others are there , but nobody can name them . In one
-1 |t name , equals , rest = word [ 2 ] . partition ( " = " )
1 |t cdef const char * begin
-1 |t self . stopped = self . saved = False
-1 |t constant = s . weighted_labels / weight
1 |t " " " Spell out the interactions for the namespaces seen so far . " " "
-1 |t self . classes . low , self . classes . high = low , high
1 |t self . set_u ( slots [ i ] , copysign ( self . cap ( slots [ i ] ) , slots [ i ] . u ) ) # a second look at it does not find it outside
1 |t def __init__ ( self , loss , * , update = " cmd " , double l 1 = 0 , double delta = 1 e - 8 , size_t root_every = 1 , * * schedule )
-1 |t " " " A number of examples , or a time such as 60 s , 5 m , 1 h ( examples , None ) or ( None , seconds ) . " " "
-1 |t # The least and the largest number that an option can be , so that an example comes to its end . 0 models predict
-1 |t return rule , " gd "
1 |t width floats of a key . wide a key takes eight bytes , not four .
-1 |t if self . weights
-1 |t from vwlite . options . groups import InputOptions , TrainOptions
1 |t " " " The number of the class that the label [ p , end ) names , or false . " " "
1 |t A gradient larger than h is cut to it . Mhammedi , Koolen . Lipschitz and Comparator - Norm Adaptivity in Online Learning .
1 |t cdef uint 32 _t * starts
-1 |t os . dup 2 ( opened , fd )
-1 |t if value or name ! = " loss "
-1 |t self . base . load ( source )
1 |t self . G [ np . ix_ ( touched , touched ) ] + = np . outer ( g [ touched ] , g [ touched ] )
-1 |t def __init__ ( self , a Arguments , streams Streams ) - > None
1 |t if numbers > 1
1 |t n , total = less , sum_of ( d , less )
1 |t cdef class Interleaved ( Classifier )
-1 |t more_labels bool = False
1 |t self . a , self . line = a , line
-1 |t self . rows = np . repeat ( np . arange ( len ( self ) ) , np . asarray ( self . _sizes , np . intp ) )
1 |t " " " Raise what the handler of a signal raised meanwhile . " " "
-1 |t cut = self . stopped
-1 |t self . run . streams . warn ( f " Missing named label ' { name } ' " )
1 |t self . give_up ( )
-1 |t yield f " { crosses } , but { gone [ 0 ] } is left out by { ' - - ignore ' if gone [ 0 ] in settings . ignore else ' - - keep ' } "
-1 |t return f " { e . prediction . 6 f } { e . confidence . 6 f } { tag } \ n "
-1 |t self . _discard ( )
-1 |t from vwlite . commands . train import command as train
-1 |t counts = counts_of ( e , self . shape . dropped )
1 |t elif self . room ( self . active + e . size )
-1 |t self . stopped = False # whether ` stop ` ended it
1 |t from vwlite . core . data . batch cimport Arrays
-1 |t " " " What a file that is no model is instead , as far as its first bytes tell . " " "
1 |t ctypedef bint ( * Idle ) ( void * rule , const char * slot ) noexcept nogil
-1 |t if code = = " class unknown "
-1 |t self . audit ( e )
1 |t u [ i ] = size [ i ] if u [ i ] > = lightest else 0
1 |t value = fabsf ( x [ i ] )
-1 |t out . append ( f " - - { name } { value } " )
-1 |t if weights is not None and " oaa " in a and ( a . flag ( " probabilities " ) or a . flag ( " scores " ) )
1 |t " " " All active cells to ` due ` , each once ; they count as waiting . Nothing waits when this is called . " " "
-1 |t s . more_labels = s . more_labels or learner . distinct_labels > 2
1 |t cdef readonly int shift
1 |t found = self . expand ( & batch . a , line , 0 , False )
1 |t out [ i ] = slot
1 |t if not 1 e - 290 < = z < = 1 e 290
-1 |t say ( )
1 |t cdef double UNTOUCHED = - 1 . 7976931348623157 e 308 # u in a model , where only other classes have touched the feature
-1 |t sys . stdout . buffer . write ( data )
1 |t free ( self . steps )
1 |t e . initial , e . importance , e . pieces = a . initial [ line ] , o . importance , NULL
1 |t cdef size_t j
1 |t cdef int 64 _t power = 0 , e = 0
1 |t float w # before the last example learned
1 |t free ( places )
-1 |t link = a . get ( " link " , " identity " ) ,
-1 |t # - - - parents - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
1 |t cdef inline void set_u ( self , WeightedSlot * s , double u ) noexcept nogil
-1 |t text = " " . join ( f " { i } { short ( h ) } , { short ( fast_tanh ( h ) ) } " for i , h in enumerate ( hidden ) )
-1 |t type = Number ( 0 , open_low = True ) , show_default = " 1 " , help = " Factor of the rate from one pass to the next . " ) ,
-1 |t round_at_end float None = None
-1 |t self . learn_with ( e , circuit . pairs + j * ( 1 < < ( i + 1 ) ) + ( 1 < < i ) - 1 )
1 |t ENORMOUS = 1 # the line has so many features that they come in pieces ` begin_pieces `
1 |t " " " w , as it is ; ` unseen ` for a feature that has none " " "
1 |t bint ends # of a piece the last feature is that of the example
1 |t " " " Raise the shift until w _ 1 < = radius , and take the waiting features into the queue .
-1 |t click . echo ( json . dumps ( facts , indent = 2 , ensure_ascii = False ) )
1 |t if self . alive [ a . letter [ span ] ]
-1 |t . pxd of ` vwlite . core . learn . table ` in a folder ` vwlite / core ` , so the build puts a link of that
1 |t - Blanks are space and TAB . A line ends with LF , CR LF or the block ; a CR elsewhere is a fault . A
-1 |t return self . base . saved_bytes ( )
-1 |t if isinstance ( o , TrainOptions )
-1 |t s . header_lines . append ( " Enabling FreeGrad based optimization " )
-1 |t drops = self . dropout and learns
1 |t MOST_TERMS = 64 # letters of an interaction
1 |t self . used , self . has_last = self . owner . used , self . owner . has_last
-1 |t group . ranked = sorted ( order , key = lambda i ( group . scores [ i ] , group . lines [ i ] . target [ 0 ] [ 0 ] ) )
1 |t c . u = 0
1 |t ( < Rule > self . each [ k ] ) . complete ( slot + k * self . record )
1 |t H_i stays as it is while i is untouched , so a weight that misses the steps s pays soft ( w_i , sum of eta_s l 1 / H_i ) .
1 |t for j in range ( dropped )
-1 |t self . driver . flush ( )
-1 |t raise UsageError ( f " { source } not a regular file , so a cache of it cannot be kept leave - - cache out " )
1 |t cdef Outcome * o
-1 |t def _go ( self , weights Weights , curvature str ) - > None
-1 |t rule . elapsed = run . statistics . t - run . statistics . weighted_unlabeled_examples
-1 |t OF_LOSS = ( " loss " , " quantile_tau " )
-1 |t say ( f " best constant = { constant . 6 f } " )
1 |t cdef double fixed = 0 # of those decided the mass of those that are clipped , and for the others
-1 |t size = a . get ( f " replay_ { level } " , 0 )
-1 |t line + = 1
-1 |t found = _DIGEST . search ( data [ max ( 0 , size - _COMMENT_SIZE ) ] )
1 |t if self . make_room ( missing )
1 |t at + = sizes [ 9 ]
-1 |t ) - > Iterator [ Block Fault ]
-1 |t def _more ( self , name bytes , value float ) - > None
-1 |t shown = f " { group . lines [ group . ranked [ 0 ] ] . target [ 0 ] [ 0 ] } . . . . . " if group . ranked else " . . . . . "
1 |t part = exp ( self . scores [ k ] - largest )
1 |t self . max_label = max ( self . max_label , label )
-1 |t self . passes + = 1
-1 |t def __init__ ( self , options InputOptions , stack ExitStack ) - > None
-1 |t without an error , and words are never worth one .
1 |t k * = 0 xcc 9 e 2 d 51 u ;
-1 |t return text + ( " . . . " if len ( line ) > 60 else " " )
-1 |t first = 0 if self . indexing . first = = 0 else 1
-1 |t number bool = False ,
1 |t self . heavy [ self . size ] , self . keys [ self . size ] = fabs ( s . u ) , s . mark - 1
1 |t self . active = 0
-1 |t narrow = self . stepper . min_label > - 1 or self . stepper . max_label < 1
-1 |t if getattr ( rule , " too_large " , False )
1 |t while p [ 0 ] < c ' 1 ' or p [ 0 ] > c ' 9 ' # sign , zeros , point
-1 |t del self . steps [ self . memory ]
1 |t if ( < Head * > slot ) . mark = = mark
-1 |t self . size = size
1 |t cdef inline void sum_up ( self , double * S , double * R ) noexcept nogil
-1 |t raise damaged ( source . path , " it is a model , not a regularizer " )
-1 |t algorithm = ALGORITHMS [ settings . algorithm ]
1 |t i = c . odd [ k ]
-1 |t def _interactions ( settings Settings , namespaces Namespaces ) - > Iterator [ str ]
-1 |t " can be used with BFGS . "
1 |t word = digits_of ( load 64 ( p ) )
1 |t " " " Bytes of a record . " " "
1 |t m . shifts = grown
1 |t " " " The weight with gravity paid , the contraction apart ; the constant pays too , as in Vowpal Wabbit . " " "
-1 |t def stack ( a Arguments , s Setup , learner Layer ) - > Layer
-1 |t if known ! = self . _named or len ( new ) > room or len ( { * map ( os . fsencode , known ) , * new } ) ! = len ( classes )
-1 |t # The mass at a breakpoint , from what the breakpoints down to it have added to it linear - theta slope .
-1 |t EVERY_KEY = ( " simplex " , " eg " , " eg - pm " )
-1 |t raise Critical ( " - - lrq does not support wildcards ' ' " , " lrq . cc " , 184 )
1 |t REPORT = 1 # the weight of examples has reached ` report_at `
1 |t cdef const char * why
1 |t uint 64 _t decimal " vwlite_decimal " ( uint 64 _t digits ) noexcept nogil
-1 |t limit = self . limits . get ( letter , self . limits . get ( 0 ) )
1 |t cdef double new = fabs ( z )
1 |t if c . u = = 0 or c . bound ! = entry . rank
1 |t self . gather_due ( )
-1 |t project_l 1 ( v , z ) . . . with sum w_i < = z
-1 |t raise ValueError ( f " { name } is not as long as it says " )
1 |t cdef const float * value
-1 |t return Bad ( block . source , block . first_line + fault . line , fault . column , fault . message , text )
-1 |t _option ( " - - allow - empty " , " allow_empty " , group = _OUT , is_flag = True , default = False ,
-1 |t head = struct . pack ( " < i " , self . width ) if kept else b " "
-1 |t # - - - the end of passes and of all - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -
-1 |t " ftrl " ( " w " , " z " , " n " ) ,
-1 |t say ( f " average loss = { found } " )
-1 |t raise ValueError ( " its header is no object " )
-1 |t " " " The average holdout loss of this pass ; NaN if there is none . " " "
-1 |t def _check_data ( path str , options " ParseOptions " ) - > bool
1 |t " " " Raise ` last ` to ` to ` , and move the entries that rank no higher to the end of ` due ` ; - 1 no memory . " " "
-1 |t " Any duplicate namespace interactions will be removed \ n "
-1 |t threads - 1 ,
1 |t cdef size_t waiting_size , waiting_capacity
-1 |t found = _in_order ( found )
-1 |t for i in reversed ( range ( circuit . height ) )
1 |t cdef size_t i , kept
-1 |t update str = " cmd "
1 |t cdef void settle ( self , Slot * s ) noexcept nogil
-1 |t os . lseek ( self . _file . fileno ( ) , 0 , os . SEEK_SET )
1 |t rest + = slots [ i ] . u * x [ i ]
1 |t cdef bint before = s . at = = number
1 |t Per feature w , G ( the sum of squared gradients ) and N ( the largest x seen ) . With the rate
-1 |t return " unknown " # Vowpal Wabbit looks for a name where it has put the shares
-1 |t weights = _array ( archive , " weights " , columns ) ,
-1 |t if not example . blank
1 |t add ( & self . S , - fabs ( s . z ) * s . inverse )
-1 |t " arow " Arow ,
-1 |t if a . flag ( " save_per_pass " ) and " final_regressor " in a
-1 |t return array ( " Q " , places [ kept ] . astype ( np . uint 64 ) . tobytes ( ) ) , array ( " f " , both [ kept ] . tobytes ( ) )
-1 |t " " " The model as of now . " " "
1 |t free ( self . met )
1 |t cdef Example e
-1 |t if state is None
-1 |t importance = np . asarray ( told . weights , np . float 32 )
1 |t if n < = 7 and first < = 9 and are_digits ( word )
-1 |t model = read_model ( o . model )
1 |t from math import frexp , ldexp
-1 |t lines = [ a . summary , a . formula , " , " . join ( options ) or " no options of its own " , a . paper ]
-1 |t if weights_only # a rule may give a weight to features that were never seen
-1 |t run . arguments . flag ( " permutations " ) , not run . arguments . flag ( " noconstant " ) ,
1 |t def sum ( self , double x )
-1 |t " " " From second derivatives to the preconditioner . " " "
1 |t s . bound = below ( fabs ( s . z ) )
1 |t bases + = [ expander . f . keys [ i ] < < self . shift for i in range ( expander . f . size ) ]
-1 |t s . shows_learners = s . table = " audit_regressor " not in a
1 |t cdef const Arrays * a
-1 |t def complain ( self , text str ) - > None
-1 |t raise CacheUnusable ( f " it was not made by vwlite { wanted [ ' command ' ] } " )
1 |t An example of millions of features , which interactions make , comes in pieces ( pieces . pyx ) a rule goes through them as
-1 |t field_of ( rule , slots , " mark " ) [ k rule . records ] = marks
-1 |t return float ( " - inf " ) if digits . startswith ( b " - " ) else float ( " inf " ) , end
1 |t o . p = min ( max ( o . p , max ( self . low [ k ] , - largest ) ) , min ( self . high [ k ] , largest ) )
-1 |t if type ( count ) is not int or not 0 < = count < LARGEST
1 |t sizes [ 6 ] = 4 * a . distinct
-1 |t packed = names is not None , predictions = run . predictions is not None , raw_predictions = run . raw is not None ,
1 |t " " " Learn with this strength from here on . The state follows in ` follow ` . " " "
-1 |t values = { * * a . values , * * self . idle }
1 |t batch . a . distinct_hash = < uint 32 _t * > ( base + at )
-1 |t compete - bool marginals compete with the features they replace
-1 |t if _total ( size ) < = z
1 |t say for every text . The results are theirs , to the bit .
1 |t cdef Batch batch # . . . which is in this batch ; else None
-1 |t self . next = batch # the number of the example after which parents are made
1 |t return SURELY * min ( first , largest ) / unit
-1 |t wants_names = a . flag ( " audit " ) or " invert_hash " in a or " audit_regressor " in a
-1 |t return f " { noun } ' { token } ' is not a number ; a tag touches the ' ' or begins with ' "
1 |t whether that happened . Written without conditions and in 64 bits , as compilers want it . * /
-1 |t s . fields = model_fields ( a )
-1 |t if self . _ended or self . _closing
1 |t " " " Write the state of the example ' s features back . " " "
1 |t self . largest_p = 44 # exp ( 44 ) ^ 2 is still a float , as in Vowpal Wabbit
-1 |t " format " o . format ,
1 |t if colon = = NULL
-1 |t EG + " . " + L 1 B + " ; section 7 , eq . 13 " ,
1 |t cdef Letters * of_group # owned ; [ groups ]
-1 |t link = f " , link = { s . link } " if s . link ! = " identity " else " "
-1 |t if len ( a ) = = 0
-1 |t _option ( " - r " , " - - raw - predictions " , " raw_predictions " , group = _OUT , vw = ( " - - raw_predictions " , ) , type = PATH ,
-1 |t def _source ( self ) - > Source
-1 |t header the JSON text , as a string array without dimensions
1 |t bint constant_early = False )
-1 |t raise Critical ( " ldf requires either m / multiline or mc / multiline - classifier " , " csoaa . cc " , 910 )
-1 |t classes = len ( index . classes )
-1 |t " v_j otherwise \ n "
-1 |t space = space or example . space ( name [ 0 ] if name else 32 )
1 |t elif self . plain
-1 |t elif e . target is not None
-1 |t options tuple [ str , . . . ] # beside the schedule and the loss
-1 |t preserve_performance_counters - bool go on with the counts of the model
-1 |t encoded = str ( value ) . encode ( " utf - 8 " , " surrogateescape " )
-1 |t slots [ place ] = depth
-1 |t " " " Why a cache is not used , as the end of a sentence . " " "
-1 |t raise ValueError ( f " { name } is no array " )
1 |t " " " Have room for at least n items of ` size ` bytes ; - 1 no memory , and all is as it was . " " "
-1 |t code str ,
-1 |t done = 0
-1 |t return to_float ( whole * 10 . 0 * * int ( exponent [ 20 ] if exponent . strip ( b " - " ) else 0 ) ) , end
-1 |t def read ( self ) - > Iterator [ tuple [ int , tuple [ float , . . . ] ] ]
1 |t cdef char * target
1 |t raise AssertionError ( f " { len ( keys ) } features , not { self . count ( & batch . a , line ) } " )
1 |t name + = 1
-1 |t from vwlite . options . groups import PATH , Command , Option
-1 |t as what a block means may depend on those before it .
-1 |t def __init__ ( self , source str , block_size int , pool Pool , stop Callable [ [ ] , bool ] ) - > None
1 |t " " " ( p - y ) ^ 2 , with plain steps a large importance passes the label , as in Vowpal Wabbit ' s classic loss " " "
-1 |t e . prediction = self . decide ( e . confidence , self . setup . statistics . weighted_unlabeled_examples )
1 |t cdef double weight , label , importance
-1 |t name = learner . names [ int ( tally . min_label ) - 1 ] if only else " "
-1 |t def _check_replaceable ( self ) - > None
-1 |t weight = e . weight
-1 |t model = e . model + k * self . increment
-1 |t hash str None = None
-1 |t " " " The data is not needed any more . " " "
-1 |t average since example example current current current nonzero
-1 |t found [ letter ] = found . get ( letter , 0 . 0 ) + space . excess
-1 |t def _letters ( settings Settings , namespaces Namespaces ) - > Iterator [ str ]
-1 |t " " " Remove the file of the lock , if it is one nothing is in it . " " "
-1 |t known = isinstance ( kind , click . Choice )
1 |t square = size * size
1 |t size_t size # entries in all buckets
-1 |t f " Example has an invalid importance weight ( { short ( e . weight ) } ) ; importance weights must be "
-1 |t out . append ( records_of ( model . slots , floats , width , wide = model . header . bits > = WIDE ) )
1 |t self . a . distinct_hash [ distinct ] = hash
1 |t " " " The hash of the namespace [ p , p + n ) . ` known ` that of the line before , in the same place . " " "
-1 |t if self . testing
-1 |t raise DataError ( f " { path } not a valid model { brief ( e ) } " ) from e
-1 |t def _called ( slot int , names dict [ int , bytes ] None , predict_only bool ) - > str
1 |t result . end = end
-1 |t k , said = a [ " oaa " ] , len ( s . header_lines )
1 |t " " " Continue from ` scalars ( ) ` and ` slots ( ) ` . " " "
-1 |t if learner . distinct_labels > 1
1 |t for k in range ( self . terms - 1 , - 1 , - 1 )
1 |t return self . strength
-1 |t settings = _settings ( a , header , found )
-1 |t learner = s . batch = make_batch ( a , s , stepper )
-1 |t batch = Batch . view ( buffer , entry . gap , entry . size )
1 |t self . loss = self . rule . loss = loss
-1 |t constant = high if self . tau * ( n_low + n_high ) < n_high else low
1 |t from vwlite . core . data . pieces cimport PieceMaker , vwlite_load , vwlite_store
1 |t self . look_at = 8 if nonzeros else INFINITY
-1 |t if not end or end ! = len ( _bytes ( value ) ) or scale ! = scale
1 |t " " " max ( 0 , 1 - y p ) , y in { - 1 , 1 } " " "
-1 |t if s . names and s . indexing is not None
-1 |t click . echo ( f " { printable ( name ) } { model } has no such feature { why } " , err = True )
-1 |t os . close ( self . _read )
-1 |t self . learner . stop ( )
-1 |t def occupy ( ) - > None
-1 |t gone = { * first , * second }
1 |t cdef readonly bint stopped # somebody asked to stop meanwhile sweeps end early from then on
1 |t touched = bytearray ( slots )
1 |t cdef double norm # z / ( V / 2 ^ ( 10 top ) )
1 |t cdef readonly Tally holdout # what is held out , in this pass
-1 |t self . _simulate ( e )
1 |t cdef double top ( self ) noexcept nogil
1 |t def __init__ ( self , loss , * , double l 1 = 0 , size_t period = 1 , double threshold = INFINITY , * * schedule )
1 |t while not ENDS [ < uint 8 _t > p [ 0 ] ] & ends
-1 |t stepper . min_label = a [ " min_prediction " ]
1 |t from vwlite . core . learn . rule cimport Example
-1 |t if self . found is None
-1 |t if values [ i ] ! = 1 or values [ i + 1 ] ! = 1
-1 |t " Crammer , Dekel , Keshet , Shalev - Shwartz , Singer 2006 " ,
-1 |t " convergence is reached . Try increasing the number of passes for convergence "
1 |t # The error of the approximation must not lead out of where the step can be .
-1 |t put ( " \ n " )
-1 |t streams . driver = None
1 |t if self . linear [ a . letter [ span ] ] and self . alive [ a . letter [ span ] ]
-1 |t whole . extend ( batch , begin , odd . line )
-1 |t self . statistics . summary ( self . streams , self . holdout , self . loss_words , self . _more_words ( ) )
-1 |t " " " A command whose help lists the options by group . " " "
-1 |t if writer is not None
1 |t if < size_t > given . shape [ 0 ] ! = self . n
-1 |t def label_domain ( self ) - > str
1 |t w = self . now ( s )
1 |t - Features that were never touched are up to 2 ^ 32 , and have one weight together .
1 |t state = self . lines ( data , data + whole , 0 , skip , batch )
-1 |t if a . get ( " loss_function " ) in ( " logistic " , " poisson " ) and stepper . widens
1 |t if ( ( < uint 32 _t * > & s . G ) [ 0 ] ^ G [ i ] ) ( ( < uint 32 _t * > & s . N ) [ 0 ] ^ N [ i ] )
-1 |t self . timed = hasattr ( self . rule , " elapsed " ) # it is told how much was learned before , and counts from there
1 |t static inline double vwlite_soft_threshold ( double v , double a ) {
-1 |t member . write ( data [ i i + step ] . tobytes ( ) )
-1 |t " " " When the next row is due after twice ( or ` factor ` times , or ` step ` more than ) the weight of now . " " "
1 |t from libc . math cimport NAN , isfinite
1 |t cdef float largest = 0
1 |t for i in range ( DEPTH )
1 |t # if defined ( __linux__ ) & & ! defined ( __SANITIZE_ADDRESS__ )
1 |t tail = < uint 32 _t > < uint 8 _t > s [ i + 2 ] < < 16
1 |t if found = = 0
1 |t cdef uint 8 _t seen [ 256 ] # letters that occurred , for wildcards
-1 |t index = Index (
1 |t if name . end [ 0 ] = = c ' '
-1 |t raise damaged ( source . path , " it is damaged behind its header " )
-1 |t if not ( self . probabilities or self . scores )
-1 |t lambda _Parsing ( self . features , numbers = self . cache is not None , packed = not self . simple ) , threads = 1 ,
-1 |t self . _checkpoint_time = time . monotonic ( ) + seconds
-1 |t hashes , names = list ( space . hashes ) , list ( space . names )
1 |t double l 2 ) {
-1 |t " " " ` vwlite weights ` " " "
-1 |t if not overlong and length + ( first if first > = 0 else piece . end ) - begin > max_line
1 |t self . hidden = 0
-1 |t RegressorAudit ( self ) . go ( )
-1 |t " w < - argmin sum of H_i ( w_i - v_i ) ^ 2 over w _ 1 < = radius , v_i = w_i - eta_t g_i / H_i " ,
-1 |t return self . _target . stat ( ) . st_mode & 0 o 777
-1 |t return " "
1 |t LONGEST_NUMBER = 352 # a double in full , its sign and six decimals
-1 |t @ click . option ( " - - top " , cls = Option , type = Whole ( 1 ) , metavar = " N " , help = " Only the N largest . [ default 20 ] " )
-1 |t letter = f " - { option . letter } , " if option . letter else " "
-1 |t " " " Whether the models of classes can lie side by side in the table . " " "
1 |t free ( g . slots )
-1 |t " " " Write the comment with the digest of all that came before it . " " "
1 |t g = o . importance * o . slope * part . x [ i ]
1 |t cdef double x [ 4 ]
1 |t cdef double area = 0 , below = 0 , positives = 0
1 |t failed = append ( due , entry )
-1 |t more = np . zeros_like ( weights . h )
-1 |t raise ValueError ( f " { name } is of type { kind } , which is none of { ' , ' . join ( CODES ) } " )
-1 |t Passes of the first kind ( ` gradient_pass ` ) find the loss and the gradient , those of the second kind the curvature
1 |t __asm__ volatile ( " " " + r " ( p ) ) ;
-1 |t e . model = model
-1 |t e . label = 1 . 0 if i in labels else - 1 . 0
1 |t self . squares - = self . square ( < Slot * > s )
1 |t linear + = c . a * c . v
-1 |t " dump_json_weights_include_feature_names_experimental " ,
1 |t cdef void powers ( const double * x , double exponent , double * out , size_t n ) noexcept nogil
1 |t rule . table . view ( self . table , k * self . record )
-1 |t f " Algorithm used { called } " ,
1 |t cdef struct Coordinate
-1 |t _cross ( names , term , 0 , 0 , b " " , out , permutations )
-1 |t half = 0 . 5 * self . step
-1 |t e . target = self . _special ( e . words [ 0 ] ) if len ( e . words ) = = 1 else None
-1 |t put ( struct . pack ( " < I " , 0 ) )
-1 |t force = self . r * away
1 |t if 100000 < = digits < 1000000
-1 |t from vwlite . options . groups import Command
-1 |t if not line . startswith ( ( " scanned dictionary " , " dictionary " ) )
1 |t s . u = self . now ( s )
-1 |t autolink - uint keep powers of the prediction up to this become features
1 |t s . G = min ( s . G + g 2 * square [ i ] , < float > FLT_MAX )
-1 |t code = result if isinstance ( result , int ) else 0
-1 |t return row ( average , recent , self . example_number , self . weight , label , prediction , features ) + mark
-1 |t self . streams . warn ( f " NAN prediction in example { self . example_number + 1 } , forcing 0 " )
1 |t self . step ( g , eta )
-1 |t return tagged ( self . shown ( e ) , e )
-1 |t raise UsageError ( f " - - labels makes labels - 1 and 1 , which - - loss { settings . loss } cannot use " )
-1 |t from vwlite . vw . run import main
-1 |t return negative , positive
1 |t self . slot_capacity = 2 * e . size
-1 |t statistics . weighted_unlabeled_examples = float ( run . lines )
1 |t self . alive [ c ] = 1
-1 |t " " " A line of a batch as an example . " " "
1 |t self . slots_of_queue = self . table . slots
-1 |t invariant = invariant , adax = a . flag ( " adax " ) , masked = " feature_mask " in a , forgiving = True ,
-1 |t self . holdout = False
1 |t cdef int add_constant ( self ) noexcept nogil
-1 |t class Bootstrap ( Layer )
1 |t from cpython . buffer cimport PyBUF_SIMPLE , PyObject_GetBuffer , PyBuffer_Release , Py_buffer
-1 |t " " " The number of the first class . " " "
-1 |t parse = parse_options ( self . options , self . settings )
1 |t cdef int gather_line ( self , size_t line ) noexcept nogil
-1 |t extension . extra_link_args = [ " - fsanitize = address , undefined " ] if sanitize else [ ]
-1 |t loss = { " squared " Squared , " classic " Classic , " hinge " Hinge , " poisson " PoissonDeviance } [ name ] ( )
1 |t return self . R . high
-1 |t leave_duplicate_interactions - bool keep interactions that are there twice
-1 |t by_lines = [ name for name in ( " csoaa_ldf " , " wap_ldf " , " top " ) if name in a ]
1 |t cdef char * find ( self , uint 32 _t key ) noexcept nogil
-1 |t shown = group . odds [ i ] if self . probabilities else label if label = = group . chosen else 0
-1 |t # Of options , or of options of one algorithm what stands for a default that is no number , and the meaning where the
1 |t cdef float r
-1 |t words = [ ]
-1 |t def _save_cut ( self ) - > None
-1 |t self . k , self . width , self . predicts_apart = k , k , False
-1 |t for key , x in zip ( keys , values , strict = True )
-1 |t if number is None
1 |t at = ( hash * < uint 64 _t > 0 x 9 E 3779 B 97 F 4 A 7 C 15 ) > > shift
1 |t values + = [ self . f . values [ i ] for i in range ( self . f . size ) ]
-1 |t total + = pair . mean . weight
-1 |t predictions str None = None
1 |t MOST_FEATURES = MOST
1 |t at = ( at + 1 ) & ( self . capacity - 1 )
1 |t " " " The slot where the search for a mark begins , or the next one if that is another ' s . Most searches end in
-1 |t def refusals ( a " Algorithm " , more str ) - > list [ str ]
-1 |t NO_RANGE = ( 0 . 0 , 0 . 0 )
-1 |t " " " Make parents of the monomials with the largest weights . " " "
-1 |t last = word [ end ] . decode ( " utf - 8 " , " surrogateescape " ) [ 0 ]
1 |t " " " soft ( w - eta g / H , eta l 1 / H ) " " "
-1 |t finished , none does . " " "
1 |t begin = name . end + 1
1 |t ( t - r ) u - ( C_t - C_r )
-1 |t os . close ( folder )
1 |t " " " A number of any size as S counts it . Up to 2 ^ 45 radii are 2 ^ 95 units there is room for 2 ^ 32 of them . " " "
-1 |t def _simulate ( self , e Current ) - > None
-1 |t e . tag = b " " # the hidden units are an example of their own then , which an audit shows without the tag
1 |t settle ( & self . S )
1 |t self . count ( self . scratch , self . size , 0 )
-1 |t _oaa = _option (
-1 |t self . letter = self . features . redefined . get ( first , first )
1 |t s . root = sqrt ( before * before + g * g )
1 |t raise ValueError ( " not a batch a count is larger than the whole " )
-1 |t path = arguments [ 1 ]
-1 |t " " " Count one example . held it was held out . " " "
-1 |t def _members ( archive zipfile . ZipFile , data bytes mmap . mmap ) - > list [ str ]
1 |t cdef double old = fabs ( c . u )
1 |t return vwlite_turn ( sum + input * VWLITE_P 2 , 31 ) * VWLITE_P 1 ;
-1 |t column = field_of ( self . rule , data , name )
1 |t " " " a w " " "
-1 |t DOWN = 2 . 0 * * - 64
-1 |t s . learning_rate = 10 . 0
1 |t cdef public uint 64 _t checkpoint_at # number of examples at which to come back
-1 |t " " " Passes what is written on to a file and digests it , but for the last piece the comment . " " "
-1 |t if " marginal " in a
-1 |t " " " The rule of the algorithm ; or , with classes , one for each of them together . rule_class instead of that . " " "
1 |t elif s . m ! = 0
1 |t cdef Columns * c = self . columns
-1 |t file . write ( data )
-1 |t required = ( " threshold " , ) ,
1 |t done with , the others wait . few the example has at most MANY features . " " "
-1 |t self . layout = Layout ( self . stepper . rule , run . setup . fields )
1 |t cdef bint cuts
1 |t if self . averages
1 |t d . slots [ size ] = slots [ i ]
-1 |t e . weight * = self . weights . get ( int ( e . target ) , 1 . 0 )
-1 |t s . sum_loss , s . weighted_labeled_examples , s . weighted_labels , s . sum_loss_since_last_dump
-1 |t self . setup . finish ( )
-1 |t batch , parsing = Batch ( ) , Parsing ( options , number )
-1 |t return write_regularizer_text ( self . header ( ) , slots , floats , hexfloat )
-1 |t if letters . count ( letter ) > 1
-1 |t yield f , b " "
-1 |t " " " Whether the slots of a model that can be continued have numbers of eight bytes , as some versions before 8 . 5 wrote
1 |t cdef struct Level
1 |t cdef void rebuild ( self ) noexcept nogil
1 |t " " " S + = g ^ 2 ; z - = g " " "
1 |t self . holdout_period and self . lines % self . holdout_period = = 0 )
1 |t if fabs ( s . z ) < = shift
1 |t zeros + = number . value = = 0
-1 |t from vwlite . vw . text . labels import LABELS
1 |t if n ! = first
1 |t eta * = pow ( self . elapsed if not self . wound else self . elapsed + o . importance , - power_t )
1 |t if name in scalars or isinstance ( own , memoryview )
-1 |t _option ( " - - threshold " , group = _LEARN , type = Number ( 0 , open_low = True , infinite = True ) , show_default = " inf " ,
-1 |t if o . link not in ( None , " identity " )
-1 |t self . k , self . first , self . streams = k , given , s . streams
1 |t ( < Names > self . settings . names ) . forget ( count )
1 |t bucket . size = 0
-1 |t multiline bool = False
-1 |t if version is None
-1 |t kill_cache k bool make the cache anew
1 |t cdef public Loss loss
-1 |t def __init__ ( self , base Layer , degree int , s Setup ) - > None
-1 |t batch . gather ( )
-1 |t example = example_of ( batch , line , names [ line ] if names else None )
1 |t return self . needs_label
-1 |t return vector , _number ( " z " , z ) , out
-1 |t Duchi et al . 2008 , section 4 , with weights as its remark at the end of section 5 .
-1 |t " theta < - soft ( theta - eta_t g , eta_t l 1 ) , soft ( v , a ) = sign ( v ) max ( v - a , 0 ) \ n "
1 |t return s . w
1 |t " " " Have ` predict ` and ` learn ` raise Stopped instead of going on with an enormous example . From any thread . " " "
1 |t memcpy ( to , words , before )
-1 |t if o . cache and o . cache_file
1 |t # What the last piece found in its slots , and made of it ; all owned by the rule , [ capacity ] .
-1 |t " min ( 0 , v_j + a ) if - theta < = v_j < = 0 \ n "
-1 |t _RANDOM = 8 # bytes in the name of a temporary file , as hexadecimal digits
-1 |t LINKS = {
-1 |t _option ( " - - threads " , group = _RUN , type = Whole ( 1 , 64 ) , default = 2 , show_default = True ,
1 |t cdef class Batch
1 |t self . signs = True
-1 |t sort_features - bool sort features , and keep one of equal ones
-1 |t dont_output_best_constant - bool no best constant in the summary
1 |t if number . end ! = ends [ 1 ]
-1 |t " " " Append bytes , all of them . " " "
-1 |t except Exception as e
-1 |t def __contains__ ( self , name str ) - > bool
-1 |t learner , bottom = self . learner , self . learner . bottom
1 |t cdef double l 1 , l 2
1 |t " " " The values of texts by their bytes ; ` head ` becomes what it did not read . " " "
1 |t alone would narrow Sigma by an example without loss too ; the figure in the paper , and so this , leaves it out .
-1 |t " " " A version of a file that may be wanted later . It has no name of its own , and is gone with the process .
-1 |t rule = Coin ( loss , alpha = alpha , beta = beta )
-1 |t self . _learn ( run , group )
-1 |t q = x * x + y * y
-1 |t ( " update " , " l 1 " , " delta " , " root_every " ) ,
-1 |t return f " no { noun } after ' { shown ( name ) } ' "
-1 |t " data " list ( o . data ) or [ " - " ] ,
1 |t if not fabs ( by [ i ] * self . to_unit ) < = 1 e 290 * self . radius
1 |t return trouble_at ( trouble , IMPORTANCE , begins [ 1 ] , ends [ 1 ] )
1 |t cdef object set_terms ( self )
1 |t cdef uint 32 _t * bases # keys in model 0 , not cut ; owned , as are the next three [ capacity ]
-1 |t from vwlite . options . groups import PATH , Command , TrainOptions , check_options
1 |t s . since = next_level
-1 |t rule . elapsed = s . t - s . holdout_weight - s . weighted_unlabeled_examples
1 |t cdef inline uint 32 _t rank ( self , double u ) noexcept nogil
-1 |t def write ( model " Model " , top int None , zeros bool ) - > None
1 |t self . zeros + = 1
-1 |t " " " The monomials of the example . One that learns is noted at its depth , which may move it there . " " "
-1 |t letter = parts [ 1 ] or parts [ 2 ]
-1 |t with StopSignal ( ) as signals
1 |t at + = self . record
-1 |t weights . go ( half - self . step )
1 |t " " " The sum of w x , in two sums , so that additions overlap . " " "
-1 |t if value = = old or ( not model . loss and name in OF_LOSS )
1 |t cdef struct Outcome
1 |t @ unseen . setter
1 |t if number . end ! = end
-1 |t _check_classes ( settings )
-1 |t def class_names ( self ) - > list [ bytes ]
1 |t free ( self . a . value )
-1 |t h . min_label , h . max_label , h . bits = source . number ( " < f " ) , source . number ( " < f " ) , source . number ( " < I " )
1 |t sum = sum * z + 1 / 19 . 0 ;
-1 |t typed = { f . name getattr ( settings , f . name ) for f in fields ( Settings ) }
-1 |t bottom . collect = self . namer . collect
-1 |t def example_of ( batch Batch , line int , names dict [ int , list [ bytes ] ] None ) - > Example
-1 |t statistics . dump_interval = 1 . 0
-1 |t " It is also possible that you have reached numerical accuracy \ n "
-1 |t e . target = [ self . class_of ( word ) for word in e . words [ 0 ] . split ( b " , " ) if word ]
1 |t # of those that are only predicted , interactions left out
-1 |t quiet = run . quiet
1 |t cdef inline void add ( Sum * sum , double x ) noexcept nogil
-1 |t def run ( self ) - > None
-1 |t from typing import Any , get_args , get_origin
1 |t trouble_at ( trouble , LABEL_DOMAIN , p , end )
1 |t self . leave ( )
-1 |t self . help + = f " [ default { attributes [ ' default ' ] if show_default is True else show_default } ] "
1 |t cdef float size = fabsf ( s . G ) , both
-1 |t ( " l 1 " , " round_at_end " ) ,
1 |t if ( self . table . has_last if i = = self . table . capacity else s . mark ! = 0 )
-1 |t __all__ = [ " SparseBall " , " project_l 1 " , " project_simplex " ]
-1 |t stepper . widens = widens
-1 |t The table is Vowpal Wabbit ' s , with one column more . All of it goes to standard error .
1 |t if ( grow ( < void * * > & self . bases , want , sizeof ( uint 32 _t ) ) or grow ( < void * * > & self . keys , want , sizeof ( uint 32 _t ) )
1 |t slot = self . slots + self . capacity * self . stride
-1 |t name = name + b " ^ " + names [ start + offset ] . rpartition ( b " ^ " ) [ 2 ]
1 |t self . strength = scalars [ " strength " ]
1 |t uint 64 _t since # the level that came next when it was touched ; 0 never touched , or the constant ; WAITING in this
-1 |t if self . probabilities or self . scores # the class is found where they are shown
-1 |t CODES dict [ str , Any ] = { " < u 4 " " I " , " < i 4 " " i " , " < f 4 " " f " , " < f 8 " " d " } # from NumPy ' s types to those of memoryviews
1 |t n - = 2
-1 |t if any ( b " " in pattern for pattern in patterns ) and not leaves
1 |t size + = times - 1
-1 |t def read_head ( path str , data bytes ) - > tuple [ Header , _Bytes ]
-1 |t def _redefine ( redefined dict [ int , int ] , text str ) - > None
-1 |t " squared " Squared ,
-1 |t self . learned . append ( learned )
-1 |t the path still leads to the file that was locked . " " "
-1 |t holdout_period - uint hold out every so many lines
-1 |t from vwlite . core . rules . l 1 _subgradient import L 1 Subgradient
-1 |t " hinge " Hinge ,
1 |t return < int 128 > ( u * self . to_finer )
-1 |t terms = factors [ self . rows ] * self . values
-1 |t def __init__ (
1 |t p = within ( p , 44 )
1 |t cdef readonly uint 64 _t active # touched features whose weight is not , waiting ones left out
-1 |t class Whole ( Number )
1 |t PyObject_GetBuffer ( block , & info , PyBUF_SIMPLE )
-1 |t ` fault ` says why they ended early , if they did .
-1 |t e . prediction = 1 . 0 if e . prediction > 0 else - 1 . 0
1 |t def tag_begin ( self )
1 |t g = np . zeros ( self . n )
1 |t void step_by_sums " vwlite_adagrad_step_by_sums " ( size_t n , const double * x , double slope , double eta , double delta ,
-1 |t results dict [ str , Any ] = { " number of examples " learner . examples }
1 |t times = times + 1 if i > 0 and letters [ i ] = = letters [ i - 1 ] and not self . permutations else 1
-1 |t match = re . fullmatch ( r " ( \ d + ) ( [ smh ] ? ) " , value )
1 |t cdef uint 32 _t at = murmur ( self . names [ number - 1 ] . text , self . names [ number - 1 ] . size , 0 ) & self . mask
-1 |t name = " confidence "
1 |t cdef Schedule schedule
-1 |t for _ in range ( 2 if drops else 1 )
1 |t cdef inline char * near_home ( char * slots , size_t stride , int shift , uint 32 _t mark ) noexcept nogil
-1 |t sys . stdout . buffer . flush ( )
-1 |t self . _thread = None
-1 |t MOST_CLASSES = 1000
-1 |t elif a is None and b = = inf
-1 |t line = line . strip ( b " \ t \ r \ n " )
-1 |t self . _rest = memoryview ( b " " )
-1 |t @ click . command ( " algorithms " , cls = Command )
-1 |t rule . table_load ( Layout ( rule , s . fields ) . write ( array ( " I " , [ key ] ) , array ( " f " , [ constant ] ) , 1 , defaults ) )
-1 |t if settings . loss and settings . loss not in algorithm . losses
-1 |t return " \ n " . join ( out )
1 |t The sum S over the active weights is an integer , as in the l 1 ball , exact in any order a level counts as its weights
1 |t from vwlite . core . base . elementary cimport powers
-1 |t DataError at the first one unless options . on_error is ` skip ` .
-1 |t def save ( self ) - > None
1 |t " " " How many features the interactions make of the namespaces found ; 2 ^ 62 if they are more . " " "
-1 |t def _check_names ( names Any , settings Settings ) - > None
-1 |t " Duchi , Hazan , Singer 2011 , eq . 6 " ,
-1 |t def _discard ( self ) - > None
1 |t cdef double slope = o . importance * o . slope , eta
-1 |t ZSTD_SKIPPABLE = tuple ( bytes ( [ 0 x 50 + i , 0 x 2 A , 0 x 4 D , 0 x 18 ] ) for i in range ( 16 ) )
1 |t double n = shifted - whole ;
-1 |t typed = { " algorithm " " l 1 - ball " , " loss " " logistic " } typed
1 |t self . forget_names ( named )
1 |t self . columns . constant_at = i
1 |t def table_bytes ( self )
-1 |t return any ( cost is not None for _ , cost in e . target )
-1 |t importance = self . decide ( e . confidence , self . setup . statistics . t )
-1 |t def decompress ( self , data bytes , size int ) - > bytes
-1 |t from heapq import heappop , heappush
-1 |t state_ * [ n ] or [ n , K ] what the rule keeps for each feature ; absent with - - save - weights - only
-1 |t return ( None , count * _UNITS [ match [ 2 ] ] ) if match [ 2 ] else ( count , None )
-1 |t source Callable [ [ Callable [ [ ] , bool ] ] , Iterator [ Task ] ] ,
1 |t if old_block > = self . low
-1 |t if self . best_is_kept
-1 |t for was , now in zip ( found , wanted , strict = True )
1 |t from vwlite . core . learn . nonzeros cimport Limited
-1 |t tally , held = learner . progressive , learner . holdout
1 |t cdef class Learner
1 |t sum + = self . now ( s . m , s . block ) * part . x [ i ]
1 |t return n = = 0 largest < limit ;
1 |t uint 64 _t read_values " vwlite_read_values " ( size_t n , uint 64 _t * text , const uint 64 _t * more , const uint 32 _t * length ,
-1 |t self . d * = np . float 32 ( beta )
-1 |t inputs = [ ] if self . path is None and a . flag ( " no_stdin " ) else [ ( self . path or " - " , " the data " ) ]
1 |t from libc . string cimport memset
-1 |t predict_only = a . flag ( " predict_only_model " )
1 |t return exp ( p )
-1 |t self . learner . end_pass ( )
1 |t " " " An array of no items may be NULL , which memcpy does not take . " " "
1 |t cdef size_t fault_count , fault_capacity
-1 |t " csoaa_ldf " , " wap_ldf " , " baseline " , " audit_regressor " ,
1 |t if self . waiting_size < self . waiting_capacity
-1 |t stop Callable [ [ ] , bool ] ,
1 |t if self . reserve ( 0 , spans + 1 , features , 0 )
-1 |t holdout_loss_since_pass float = 0 . 0
1 |t if not self . raw
1 |t c = & self . cells [ touched [ i ] ]
-1 |t return mmh 3 . hash ( name , seed , signed = False )
-1 |t if s . names and len ( s . names ) ! = k
-1 |t self . _keep_model ( stack )
1 |t cdef uint 64 _t m = d . mantissa
-1 |t for block in self . _blocks ( self . stop )
1 |t free ( self . names )
-1 |t space . names . append ( name )
1 |t w - = copysign ( learning_rate ( & self . shrinkage , t ) , w )
1 |t cdef inline void clean_if_stale ( self ) noexcept nogil
1 |t cdef inline void drop ( self , Slot * s ) noexcept nogil
1 |t if self . heavy [ i ] < self . least
-1 |t def get_help_record ( self , ctx click . Context ) - > tuple [ str , str ] None
-1 |t raise CacheUnusable ( " it is cut off " )
-1 |t from vwlite . model . file import Model , read_model , write_model
1 |t if self . reserve ( self . piece + 1 ) or self . begin_crossing ( a , line )
-1 |t raise Critical ( f " model save failed . Error Details { RESUMING } " , " bfgs . cc " , 1000 )
1 |t the whole 32 - bit hashes ( masked by the learner when ` - b ` is below 32 ) , so collisions all but
-1 |t outputs [ f " - - save_per_pass in pass { n } " ] = f " { a [ ' final_regressor ' ] } . { n } "
1 |t m . capacity = want
-1 |t self . _fd = os . open ( self . name , os . O_WRONLY os . O_CLOEXEC )
-1 |t " " " The numbers of a version ; None it is none . " " "
-1 |t " ctime " info . st_ctime_ns , # of the last change of any kind , which nobody can set back
-1 |t output_feature_regularizer_text - str the same to be read
-1 |t f " { o . initial } a model of Vowpal Wabbit does not know the loss that it was trained with say it , "
-1 |t return train ( options )
1 |t # include < stdlib . h >
-1 |t if " audit_regressor " in a
-1 |t def _failed ( self , e OSError ) - > Exception
-1 |t x = self . read ( value )
-1 |t def _examples ( self , batch Batch , names Names None ) - > Iterator [ Current None ]
1 |t out [ size ] = 46
-1 |t " " " The settings by their long names , for reports and ` vwlite info ` . " " "
-1 |t f " { shown } passed but the { wanted } loss function is not being used . Selected loss function { loss } " ,
-1 |t for name in ( " ftrl " , " pistol " , " coin " , " freegrad " )
-1 |t source . check = check = _Checksum ( )
1 |t def inverses_rest ( self )
-1 |t self . weight . label = ( self . setup . random . next ( ) - 0 . 5 ) / sqrt ( k )
1 |t cdef bint has_last # the slot after the last is taken
-1 |t def where ( a " Algorithm " , d str ) - > list [ str ]
-1 |t elif not self . skip
-1 |t Array TypeAlias = " memoryview [ Any ] "
-1 |t return max ( ( i for i , other in enumerate ( keys ) if other = = key ) , default = None )
-1 |t if self . chain_hash
-1 |t a , statistics = self . arguments , self . statistics
1 |t self . rule . table . lookup ( & key , 1 , & slot )
-1 |t def __init__ ( self , k int , errors int ) - > None
1 |t return ( self . capacity + 1 ) * self . stride
-1 |t " " " A buffer of examples . Each example takes the place of a random one , which is learned then .
-1 |t MOST_NAMES = 8 # of classes that are shown
-1 |t stepper . set_weight ( place & 0 xFFFFFFFF , w )
-1 |t self . _read_head ( cells )
1 |t begin the range to which scores are clipped before there is a label , if the rules clip .
1 |t c . size = c . odd_count = 0
1 |t batch . a . features , batch . a . tag_bytes = begun . features , begun . tag_bytes
-1 |t return Resolved ( settings , changed )
1 |t sum = sum * r + 1 / 362880 . 0 ;
1 |t if link = = Link . GLF 1
1 |t elif s . u > shift # it has risen since , or a float cannot tell it from the shift
-1 |t if len ( a . get ( " cache_file " , [ ] ) ) > 1
-1 |t return swapped if self . early else ids , count
1 |t batch . a . importance = < double * > ( base + at )
-1 |t costs = [ ( label , UNKNOWN_COST if cost is None else cost ) for label , cost in e . target ]
1 |t def __getbuffer__ ( self , Py_buffer * info , int flags )
-1 |t classes list [ str ]
1 |t cdef size_t first = batch . a . features - c . size
-1 |t task = next ( self . _source , None )
1 |t sums [ 0 ] + = x [ i ]
-1 |t delivered as soon as the input pauses .
1 |t for i in range ( self . heap_size )
-1 |t nonlocal size , line , last
-1 |t return ClassWeight ( layer , weights , " multi " ) if weights is not None and of_one_class else layer
-1 |t passed + = self . v [ i ]
-1 |t d = self . d
1 |t even + = w [ i ] * x [ i ]
-1 |t self . found = self . example . space ( self . letter )
1 |t ULPS = 8 # generous m , 10 ^ e and the operation each err by half a unit
-1 |t Beygelzimer , Langford , Ravikumar . Error - Correcting Tournaments . ALT 2009 ( weighted all pairs ) .
1 |t if make_room ( < void * * > & self . scratch , & self . scratch_capacity , 2 * part . size , sizeof ( double ) )
1 |t return ( self . t - s . account . since ) * s . slot . z * s . slot . inverse
-1 |t return { " " " none " , " None " " none " , " True " " a constant " , " False " " " } . get ( str ( value ) , str ( value ) ) . strip ( )
1 |t double u # sign ( theta ) ( theta + Theta ) ; theta is 0 where u < = Theta . The constant w itself
1 |t self . age + = 1
-1 |t return " unknown " if e . target is None else " , " . join ( map ( str , e . target ) )
-1 |t noted = { letter square + e . excess . get ( letter , 0 . 0 ) for letter , square in true . items ( ) }
-1 |t FORMAT = 1 # raised when older programs cannot read what is written
1 |t cdef const char * end = < const char * > memchr ( p , 0 , a . tag_begin [ line + 1 ] - a . tag_begin [ line ] )
1 |t gradients have come since , and at once when the old one would make a step S ^ - 1 g longer than 1 , which a new one never
1 |t if p = = NULL or p [ 0 ] ! = c ' '
-1 |t # A pipe may be silent for long then the consumer must not be the one who waits for it .
-1 |t " " " The plan of all matches . The first k are the classes themselves . " " "
-1 |t self . _report = stack . enter_context ( AtomicFile ( options . report ) ) if options . report else None
-1 |t label = e . target
-1 |t " made from " self . _made_from ,
1 |t cdef void count_untouched ( self , uint 64 _t n ) noexcept nogil
1 |t if self . two_sided and self . low < = - 1
1 |t number = number * 10 + < uint 32 _t > ( s [ i ] - c ' 0 ' ) # mod 2 ^ 32 , as the low bits of mod 2 ^ 64 are
-1 |t if self . setup . table and statistics . weight > = statistics . dump_interval and not self . quiet
-1 |t classes = f " { s . oaa } classes , " if s . oaa else " "
1 |t for c in list ( self . letters )
-1 |t before , words = replace ( self . statistics ) , self . streams . count
1 |t " " " Give every place of a feature the sum of its values ; ` at ` is its last place then . " " "
1 |t return ( p - y ) * ( p - y )
1 |t def update ( self , double p , double label , double importance = 1 , uint 32 _t model = 0 )
-1 |t merged = bytes ( sorted ( set ( letters ( a [ name ] ) ) ) ) . decode ( " utf - 8 " , " surrogateescape " )
